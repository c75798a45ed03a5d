"""The shown path of a session, in queries for its events."""

from __future__ import annotations

from pymongo.asynchronous.client_session import AsyncClientSession

from backend_api.agent.events import MessageWithdrawn
from backend_api.agent.path import BESIDE_PATHS, Path, path_after
from backend_api.conversations.mongo.event_documents import read_events
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.database import Database, Document

_BESIDE = sorted(BESIDE_PATHS)


async def read_path(database: Database, session_id: SessionId, *, up_to: int | None = None) -> Path:
    """The path of the last `path.selected`, without messages that were taken back at any time: two index look-ups,
    which find nothing in most sessions."""
    wanted: Document = {"session_id": session_id, "type": "path.selected"}
    if up_to is not None:
        wanted["seq"] = {"$lte": up_to}
    found = await database["events"].find(wanted).sort("seq", -1).limit(1).to_list()
    withdrawn = await read_withdrawn(database, session_id)
    return path_after((await read_events(database, found))[0] if found else None, withdrawn)


async def read_withdrawn(
    database: Database, session_id: SessionId, transaction: AsyncClientSession | None = None
) -> frozenset[int]:
    """The numbers of the messages that were taken back before the agent had read them."""
    wanted = {"session_id": session_id, "type": "message.withdrawn"}
    found = await database["events"].find(wanted, session=transaction).to_list()
    told = [event.payload for event in await read_events(database, found)] if found else []
    return frozenset(one.at_seq for one in told if isinstance(one, MessageWithdrawn))


def on_path(path: Path, *, with_beside: bool = True) -> Document:
    """The filter for events on a path, and those valid on every path."""
    beside: Document = {"type": {"$nin": _BESIDE}} if with_beside else {}
    gaps = [{"seq": {"$gte": first, "$lte": last}, **beside} for first, last in path.gaps()]
    return {"$nor": gaps} if gaps else {}
