"""The tasks of a session as they were last stored."""

from __future__ import annotations

from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import TasksUpdated
from backend_api.agent.tasks import NO_TASKS
from backend_api.conversations.mongo.event_documents import read_events
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database

AT_ONCE = 64
"""The most task changes that may be stored in another order than they were made: as many as there are parallel
calls."""


async def last_tasks(
    database: Database, session_id: SessionId, transaction: AsyncClientSession, *, among: int = 1
) -> TasksUpdated:
    """The tasks with the highest version `among` the last stored ones, read inside a transaction that has written the
    session. The last stored ones include every change of the person."""
    wanted = {"session_id": session_id, "type": "tasks.updated", "agent_id": None}
    cursor = database["events"].find(wanted, session=transaction).sort("seq", -1).limit(among)
    told = [event.payload for event in await read_events(database, await cursor.to_list())]
    return max((one for one in told if isinstance(one, TasksUpdated)), key=lambda one: one.version, default=NO_TASKS)
