"""What changed in a session's files, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.changes.application import ReadChanges
from backend_api.changes.http import router
from backend_api.changes.mongo import MongoTurnEvents
from backend_api.conversations.ports import SessionRepository
from backend_api.kit.mongo.database import Database
from backend_api.module import Module, Parts


@asynccontextmanager
async def open_changes(*, database: Database, sessions: SessionRepository) -> AsyncGenerator[Parts]:
    """Open the module. Its port is `changes`, a `ReadChanges`."""
    yield Parts(ports={"changes": ReadChanges(sessions=sessions, events=MongoTurnEvents(database))})


CHANGES = Module(
    name="changes",
    description="What the agent changed in a conversation's files since its user last looked.",
    routes=[router],
    open=open_changes,
)
