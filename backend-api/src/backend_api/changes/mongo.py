"""Turns and what they told of files, read from the stored events."""

from __future__ import annotations

from collections.abc import Collection

from backend_api.agent.events import FilesChanged, ToolCalled, ToolFinished
from backend_api.changes.domain.changed_files import files_there
from backend_api.changes.ports import FileEvents, Turns
from backend_api.conversations.mongo.event_documents import read_events, read_up_to
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database, Document
from backend_api.kit.mongo.transactions import store_errors

MAX_TURNS = 200
"""The most turns that are looked at, the newest ones."""
MAX_EVENTS = 10_000
MAX_BYTES = 16 * 1024 * 1024
MAX_EARLIER = 1_000
"""The most events that are looked at for whether a file was there."""
_SEEN = ["tool.called", "tool.finished", "files.changed"]
_NO_OUTPUT: Document = {"output": 0}


class MongoTurnEvents:
    """`TurnEvents` on the collection events, by its index of session, type and number."""

    def __init__(self, database: Database) -> None:
        # The driver: events are read by type, which no use case of the log does.
        self._database = database
        self._events = database["events"]

    async def ended_after(self, session_id: SessionId, seq: int) -> Turns | None:
        """Two reads."""
        async with store_errors():
            wanted: Document = {"session_id": session_id, "type": "run.finished", "seq": {"$gt": seq}}
            found = await self._events.find(wanted, {"seq": 1, "run_id": 1}).sort("seq", -1).limit(MAX_TURNS).to_list()
            if not found:
                return None
            first = found[-1]
            begun: Document = {"session_id": session_id, "type": "run.started", "seq": {"$lt": first["seq"]}}
            # A run that was taken over, or waited, started more than once.
            starts = self._events.find(begun | {"run_id": first["run_id"]}, {"seq": 1}).sort("seq", 1).limit(1)
            begins = [one["seq"] async for one in starts]
        return Turns(count=len(found), first_seq=begins[0] if begins else seq, last_seq=found[0]["seq"])

    async def of_turns(self, session_id: SessionId, turns: Turns) -> FileEvents:
        """Up to a number of bytes; of further events only which files changed."""
        within = {"$gte": turns.first_seq, "$lte": turns.last_seq}
        wanted: Document = {"session_id": session_id, "type": {"$in": _SEEN}, "seq": within}
        async with store_errors():
            cursor = self._events.find(wanted, _NO_OUTPUT).sort("seq", 1).limit(MAX_EVENTS + 1)
            documents, is_partial = await read_up_to(cursor, MAX_BYTES)
            is_partial = is_partial or len(documents) > MAX_EVENTS
            if is_partial:
                rest = wanted | {"type": "files.changed", "seq": within | {"$gt": documents[-1]["seq"]}}
                cursor = self._events.find(rest, _NO_OUTPUT).sort("seq", 1).limit(MAX_EVENTS)
                documents += (await read_up_to(cursor, MAX_BYTES))[0]
            events = await read_events(self._database, documents)
        told = [one.payload for one in events if isinstance(one.payload, ToolCalled | ToolFinished | FilesChanged)]
        return FileEvents(payloads=told, is_partial=is_partial)

    async def there_before(self, session_id: SessionId, seq: int, paths: Collection[str]) -> set[str]:
        """The last events, newest first."""
        wanted: Document = {"session_id": session_id, "type": "files.changed", "seq": {"$lt": seq}}
        async with store_errors():
            cursor = self._events.find(wanted, _NO_OUTPUT).sort("seq", -1).limit(MAX_EARLIER)
            documents, _ = await read_up_to(cursor, MAX_BYTES)
            events = await read_events(self._database, documents)
        return files_there((one.payload for one in events if isinstance(one.payload, FilesChanged)), paths)
