"""Sessions, their events and streams, as a module of the gateway. Starting and ending runs is in
`messages_module.py`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from backend_api.agent.events import SandboxUpdated
from backend_api.conversations.application.follow_events import FollowEvents
from backend_api.conversations.application.follow_sessions import FollowSessions
from backend_api.conversations.application.mark_read import MarkRead
from backend_api.conversations.application.read_model_request import ReadModelRequest
from backend_api.conversations.application.read_usage import ReadUsage
from backend_api.conversations.application.session_heads import SessionHeads
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.conversations.application.update_session import UpdateSession
from backend_api.conversations.http import events, sessions, usage
from backend_api.conversations.mongo.change_cursor import MongoChangeCursor
from backend_api.conversations.mongo.documents import DOCUMENTS
from backend_api.conversations.mongo.event_log import MongoEventLog
from backend_api.conversations.mongo.model_call_quota import MongoModelCallQuota
from backend_api.conversations.mongo.read_markers import MongoReadMarkers
from backend_api.conversations.mongo.run_records import MongoRunRecords
from backend_api.conversations.mongo.session_feed import MongoSessionFeed
from backend_api.conversations.mongo.session_repository import MongoSessionRepository
from backend_api.conversations.mongo.spending import MongoSpending
from backend_api.conversations.mongo.titles import MongoTitles
from backend_api.conversations.mongo.transcripts import MongoTranscripts
from backend_api.conversations.redis.session_stream import RedisSessionStream
from backend_api.identity.application.connection_auth import AuthenticatedConnections
from backend_api.identity.application.limits import Limits, Quotas
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.hub import Hub
from backend_api.module import Module, Parts


@asynccontextmanager
async def open_conversations(
    *,
    database: Database,
    redis: Redis,
    hub: Hub,
    clock: Callable[[], float],
    connections: AuthenticatedConnections,
    limiter: RateLimiter,
    limits: Limits,
    quotas: Quotas,
    rules_of: Callable[[UserId], Awaitable[OptionRules]],
    is_gateway: bool,
    poll_s: float = 1.0,
) -> AsyncGenerator[Parts]:
    """Its ports are the stores of conversations, the use cases of its routes, and `announce_sandbox`, which shows
    sandbox starts in the stream. Only a gateway watches for changes of sessions."""
    repository, log = MongoSessionRepository(database), MongoEventLog(database)
    stream, feed = RedisSessionStream(redis, hub), MongoSessionFeed(database)
    heads, slots = SessionHeads(log, poll_s), StreamSlots(quotas.streams, connections)

    async def announce(session_id: SessionId, event: SandboxUpdated) -> None:
        await stream.append(session_id, await log.append(session_id, [event]))

    async with AsyncExitStack() as stack:
        if is_gateway:
            await stack.enter_async_context(feed)
        yield Parts(
            ports={
                "sessions": repository,
                "log": log,
                "stream": stream,
                "transcripts": MongoTranscripts(database),
                "titles": MongoTitles(database),
                "model_call_quota": MongoModelCallQuota(database, most=quotas.model_calls_mb * 1024**2),
                "run_records": MongoRunRecords(),
                "change_cursor": MongoChangeCursor(),
                "announce_sandbox": announce,
                "stream_slots": slots,
                "update_session": UpdateSession(repository, stream, rules_of, limiter, limits),
                "mark_read": MarkRead(MongoReadMarkers(database)),
                "follow_events": FollowEvents(repository, log, stream, heads, poll_s),
                "follow_sessions": FollowSessions(repository, feed, poll_s),
                "read_usage": ReadUsage(MongoSpending(database), clock),
                "read_model_request": ReadModelRequest(repository, log),
            },
            closings=[slots.close],
        )


CONVERSATIONS = Module(
    name="conversations",
    description="Sessions, their events and streams.",
    documents=DOCUMENTS,
    routes=[sessions.router, events.router, usage.router],
    is_busy=True,
    tags={
        "sessions": "Conversations, each with a sandbox of its own.",
        "events": "One ordered stream per session: live, paged, resumable.",
        "usage": "Tokens and what they cost.",
    },
    open=open_conversations,
)
