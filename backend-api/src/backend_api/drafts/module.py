"""Drafts of conversations, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.conversations.ports import SessionRepository
from backend_api.drafts.application import KeepDraft
from backend_api.drafts.http import router
from backend_api.drafts.mongo import DraftDocument, MongoDrafts
from backend_api.kit.mongo.database import Database
from backend_api.module import Module, Parts


@asynccontextmanager
async def open_drafts(*, database: Database, sessions: SessionRepository) -> AsyncGenerator[Parts]:
    """Open the module. Its port is `drafts`, a `KeepDraft`."""
    yield Parts(ports={"drafts": KeepDraft(sessions=sessions, store=MongoDrafts(database))})


DRAFTS = Module(
    name="drafts",
    description="What a person is writing to a conversation, kept until it is sent.",
    documents=[DraftDocument],
    routes=[router],
    tags={"drafts": "What the user is writing to a conversation, kept until it is sent."},
    open=open_drafts,
)
