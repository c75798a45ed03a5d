"""The tasks of a session as they were stored last."""

from __future__ import annotations

from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import TasksUpdated
from backend_api.agent.tasks import NO_TASKS
from backend_api.conversations.mongo.event_documents import read_events
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database

AT_ONCE = 64
"""Changes of tasks that may be stored in another order than they were made in: as many as calls work at once."""


async def last_tasks(
    database: Database, session_id: SessionId, transaction: AsyncClientSession, *, among: int = 1
) -> TasksUpdated:
    """Those of the highest version `among` the ones stored last, inside a transaction that has written the session.
    What was stored last of all has every change of the person in it."""
    wanted = {"session_id": session_id, "type": "tasks.updated", "agent_id": None}
    cursor = database["events"].find(wanted, session=transaction).sort("seq", -1).limit(among)
    told = [event.payload for event in await read_events(database, await cursor.to_list())]
    return max((one for one in told if isinstance(one, TasksUpdated)), key=lambda one: one.version, default=NO_TASKS)
