"""Bodies that are the same in many sessions, such as a conversation's system prompt and tools: stored once, by their
digest.

A session's own record refers to one, and it is read only through that. One that no session refers to any more is
removed two hours after its last use, by whichever process sweeps: no process relies on a cached look-up for so long.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

from backend_api.agent.events import ContextOpened, McpUpdated, StoredPayload
from backend_api.agent.new_events import Body
from backend_api.kit.mongo.database import Database

MAX_SHARED_BYTES = 240_000
"""A larger body is stored in parts, with its session."""
_KNOWN_S = 3_600.0
UNUSED = timedelta(hours=2)
_MAX_KNOWN = 1_000
_SWEPT_AT_ONCE = 50


@dataclass(slots=True)
class _Known:
    """The times at which bodies in a database were last found stored, by digest."""

    at: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])

    def has(self, key: tuple[str, str]) -> bool:
        return time.monotonic() - self.at.get(key, -_KNOWN_S) < _KNOWN_S

    def add(self, key: tuple[str, str], since: float) -> None:
        self.at.pop(key, None)
        if len(self.at) >= _MAX_KNOWN:
            del self.at[next(iter(self.at))]
        self.at[key] = since


_known: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()


def is_shared(payload: StoredPayload, body: Body) -> bool:
    """Whether the body is mostly the same in other sessions."""
    return isinstance(payload, ContextOpened | McpUpdated) and len(body.content) <= MAX_SHARED_BYTES


async def share(database: Database, body: Body) -> str:
    """Stores the body outside of any transaction, where many at once would block each other, and returns its digest."""
    digest = sha256(body.media_type.encode() + b"\0" + body.content).hexdigest()
    known, key = _known.setdefault(database.client, _Known()), (database.name, digest)
    if not known.has(key):
        since = time.monotonic()
        fresh = {"media_type": body.media_type, "content": body.content}
        await database["shared_bodies"].update_one(
            {"_id": digest}, {"$setOnInsert": fresh, "$currentDate": {"used_at": True}}, upsert=True
        )
        known.add(key, since)
    return digest


async def read_shared(database: Database, digest: str) -> Body | None:
    """The shared body, or None if it is gone."""
    found = await database["shared_bodies"].find_one({"_id": digest})
    return Body(content=bytes(found["content"]), media_type=found["media_type"]) if found is not None else None


async def remove_unused(database: Database, *, unused: timedelta = UNUSED) -> None:
    """Removes bodies unused for so long that no session refers to; those still referred to are marked as used."""
    shared = database["shared_bodies"]
    long_ago = datetime.now(UTC) - unused
    for one in await shared.find({"used_at": {"$lt": long_ago}}, {"used_at": 1}).limit(_SWEPT_AT_ONCE).to_list():
        as_found = {"_id": one["_id"], "used_at": one["used_at"]}
        if await database["bodies"].find_one({"shared": one["_id"]}, {"_id": 1}):
            await shared.update_one(as_found, {"$currentDate": {"used_at": True}})
        else:
            await shared.delete_one(as_found)
