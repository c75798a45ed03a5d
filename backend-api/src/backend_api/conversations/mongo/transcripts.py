"""Messages of a session, read from the stored events."""

from __future__ import annotations

import json
from functools import reduce

from backend_api.agent.events import (
    NO_USAGE,
    Event,
    Payload,
    PlanUpdated,
    Task,
    TasksUpdated,
    Todo,
    TodosUpdated,
    Usage,
)
from backend_api.agent.tasks import NO_TASKS
from backend_api.agent.usage import combine
from backend_api.conversations.mongo.event_documents import read_events, read_up_to
from backend_api.conversations.mongo.paths import on_path, read_path
from backend_api.conversations.mongo.shown_messages import in_shown_order
from backend_api.conversations.mongo.stored_tasks import AT_ONCE
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import store_errors

_SAID = ("message.user", "message.completed")


class MongoTranscripts:
    """`Transcripts` on the collections events and runs."""

    def __init__(self, database: Database) -> None:
        # The driver: messages are read up to a size, and of runs only one field.
        self._database = database

    async def messages(self, session_id: SessionId, *, up_to: int, limit: int, most: int | None = None) -> list[Event]:
        """The last messages of the log, in the order in which they are shown."""
        async with store_errors():
            wanted = await self._on_path(session_id, up_to)
            found = self._database["events"].find(wanted | {"type": {"$in": _SAID}}).sort("seq", -1).limit(limit)
            documents, _ = await read_up_to(found, most)
            events = await read_events(self._database, documents)
            return await in_shown_order(self._database, session_id, events[::-1])

    async def beginning(self, session_id: SessionId, *, limit: int, most: int | None = None) -> list[Event]:
        """The first messages."""
        async with store_errors():
            wanted = await self._on_path(session_id)
            found = self._database["events"].find(wanted | {"type": {"$in": _SAID}}).sort("seq", 1).limit(limit)
            documents, _ = await read_up_to(found, most)
            return await read_events(self._database, documents)

    async def plan(self, session_id: SessionId, *, up_to: int) -> PlanUpdated | None:
        """The last plan."""
        told = await self._last("plan.updated", session_id, up_to)
        return told if isinstance(told, PlanUpdated) else None

    async def tasks(self, session_id: SessionId, *, up_to: int) -> list[Task]:
        """The tasks with the highest version."""
        told = await self._find_payloads("tasks.updated", session_id, up_to, AT_ONCE)
        lists = [one for one in told if isinstance(one, TasksUpdated)]
        return max(lists, key=lambda one: one.version, default=NO_TASKS).tasks

    async def todos(self, session_id: SessionId, *, up_to: int) -> list[Todo]:
        """The todos of the last list."""
        told = await self._last("todos.updated", session_id, up_to)
        return told.todos if isinstance(told, TodosUpdated) else []

    async def usage(self, session_id: SessionId) -> Usage:
        """The sum over the runs."""
        async with store_errors():
            found = self._database["runs"].find({"session_id": session_id, "usage": {"$type": "string"}}, {"usage": 1})
            return reduce(combine, [Usage(**json.loads(document["usage"])) async for document in found], NO_USAGE)

    async def _last(self, type_: str, session_id: SessionId, up_to: int) -> Payload | None:
        """The main agent's last event of this type."""
        told = await self._find_payloads(type_, session_id, up_to, 1)
        return told[0] if told else None

    async def _find_payloads(self, type_: str, session_id: SessionId, up_to: int, limit: int) -> list[Payload]:
        async with store_errors():
            wanted = await self._on_path(session_id, up_to) | {"type": type_}
            found = await self._database["events"].find(wanted).sort("seq", -1).limit(limit).to_list()
            return [event.payload for event in await read_events(self._database, found)]

    async def _on_path(self, session_id: SessionId, up_to: int | None = None) -> Document:
        """The filter for the main agent's events, up to a number, on the path shown then."""
        wanted: Document = {"session_id": session_id, "agent_id": None}
        if up_to is not None:
            wanted["seq"] = {"$lte": up_to}
        return wanted | on_path(await read_path(self._database, session_id, up_to=up_to), with_beside=False)
