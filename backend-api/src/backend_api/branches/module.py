"""Branches of conversations, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from backend_api.branches.application import Branches
from backend_api.branches.http import router
from backend_api.branches.mongo import MongoBranchStore
from backend_api.conversations.application.check_attachments import CheckAttachments
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.mongo.database import Database
from backend_api.kit.notifier import Notifier
from backend_api.module import Module, Parts


@asynccontextmanager
async def open_branches(
    *,
    database: Database,
    sessions: SessionRepository,
    stream: SessionStream,
    notifier: Notifier,
    limiter: RateLimiter,
    limits: Limits,
    check_attachments: CheckAttachments,
    clock: Callable[[], float],
) -> AsyncGenerator[Parts]:
    """Open the module. The port is `branches`."""
    branches = Branches(
        sessions=sessions,
        store=MongoBranchStore(database),
        stream=stream,
        notifier=notifier,
        limiter=limiter,
        limits=limits,
        check_attachments=check_attachments,
        now=lambda: datetime.fromtimestamp(clock(), UTC),
    )
    yield Parts(ports={"branches": branches})


BRANCHES = Module(
    name="branches",
    description="Other ways a conversation could go on.",
    routes=[router],
    open=open_branches,
)
