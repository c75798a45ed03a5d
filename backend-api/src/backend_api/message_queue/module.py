"""Messages that wait for the end of the active run, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.conversations.application.check_attachments import CheckAttachments
from backend_api.conversations.application.send_message import SendMessage
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.mongo.database import Database
from backend_api.kit.notifier import Notifier
from backend_api.message_queue.application import KeepQueue, SendQueued
from backend_api.message_queue.http import router
from backend_api.message_queue.mongo import MongoQueuedMessages, QueuedMessageDocument
from backend_api.module import Module, Parts


@asynccontextmanager
async def open_message_queue(
    *,
    database: Database,
    sessions: SessionRepository,
    stream: SessionStream,
    notifier: Notifier,
    limiter: RateLimiter,
    limits: Limits,
    check_attachments: CheckAttachments,
    send_message: SendMessage,
) -> AsyncGenerator[Parts]:
    """Its ports are `message_queue`, a `KeepQueue`, `send_queued`, a `SendQueued`, and `queued_messages`, which reads
    them when a page opens; its task sends due messages."""
    store = MongoQueuedMessages(database)
    keep = KeepQueue(
        sessions=sessions,
        store=store,
        stream=stream,
        notifier=notifier,
        limiter=limiter,
        limits=limits,
        check_attachments=check_attachments,
    )
    send = SendQueued(store=store, stream=stream, notifier=notifier, send=send_message)
    yield Parts(
        ports={"message_queue": keep, "send_queued": send, "queued_messages": store},
        gateway_tasks={"message_queue": send.send_until_cancelled},
    )


MESSAGE_QUEUE = Module(
    name="message_queue",
    description="Messages that wait for the end of the run at work.",
    documents=[QueuedMessageDocument],
    routes=[router],
    tags={"queue": "Messages that wait for the end of the run at work."},
    open=open_message_queue,
)
