"""The gateway's stores on real servers, and the doubles in memory of those that most unit tests stand on."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from backend_api.agents.domain import UserKinds
from backend_api.agents.mongo.subagent_kinds import MongoSubagentKinds
from backend_api.background.domain import BackgroundCommands
from backend_api.background.mongo.background_commands import MongoBackgroundCommands
from backend_api.conversations.domain.deletions import Deletions
from backend_api.conversations.domain.entity import Session, SessionStatus
from backend_api.conversations.domain.feed import ReadMarkers
from backend_api.conversations.domain.model_call_quota import ModelCallQuota
from backend_api.conversations.domain.spending import Spending
from backend_api.conversations.domain.titles import Titles
from backend_api.conversations.mongo.deletions import MongoDeletions
from backend_api.conversations.mongo.event_log import MongoEventLog
from backend_api.conversations.mongo.model_call_quota import MongoModelCallQuota
from backend_api.conversations.mongo.read_markers import MongoReadMarkers
from backend_api.conversations.mongo.session_repository import MongoSessionRepository
from backend_api.conversations.mongo.spending import MongoSpending
from backend_api.conversations.mongo.titles import MongoTitles
from backend_api.conversations.mongo.transcripts import MongoTranscripts
from backend_api.conversations.ports import (
    EventLog,
    RunLedger,
    SessionRepository,
    SessionStream,
    Transcripts,
    Waits,
)
from backend_api.conversations.redis.session_stream import RedisSessionStream
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.notifier import Notifier
from backend_api.kit.redis.client import Redis, connect_redis
from backend_api.kit.redis.hub import Hub
from backend_api.kit.redis.notifier import RedisNotifier
from backend_api.main.stores import DOCUMENTS, connect
from backend_api.mcp.mongo.mcp_servers import MongoMcpServers
from backend_api.mcp.mongo.mcp_sign_ins import MongoSignIns
from backend_api.previews.mongo.opened_ports import MongoOpenedPorts
from backend_api.previews.ports import OpenedPorts
from backend_api.runs.mongo.run_ledger import MongoRunLedger
from backend_api.runs.mongo.run_waits import MongoWaits
from backend_api.schedules.mongo.schedules import MongoSchedules
from backend_api.schedules.ports import Schedules
from backend_api.settings.mongo.user_settings import MongoSettingsStore
from backend_api.settings.ports import SettingsStore
from backend_api.skills.mongo.skills import MongoSkillStore
from backend_api.skills.ports import SkillStore
from support.memory.deletions import MemoryDeletions
from support.memory.run_ledger import MemoryRunLedger
from support.memory.run_waits import MemoryWaits
from support.memory.sessions import (
    MemoryEventLog,
    MemorySessionRepository,
    MemoryTranscripts,
)
from support.memory.store import MemoryStore, utc_now
from support.modules import MODULE_DOCUMENTS

ANNA = UserId("anna")
BERT = UserId("bert")
BEGINS_WITHIN_S = 1.0
"""Of a background command, where a test lets none begin."""
DOUBLES_TOO = pytest.mark.parametrize("stores", ["memory", "mongo"], indirect=True)
"""Runs a suite on the doubles in memory, too: unit tests of runs stand on them, and would lie where they differ."""


_indexed: set[tuple[str, str]] = set()
"""Databases of this process that have the indexes of all modules, as emptied ones of former tests do."""


@asynccontextmanager
async def connect_modules(uri: str, name: str) -> AsyncGenerator[Database]:
    """The database with the documents of all modules. Making sure of indexes that were made before costs as much as all
    else that opens a gateway."""
    has_indexes = (uri, name) in _indexed
    async with connect(uri, name, documents=MODULE_DOCUMENTS, has_indexes=has_indexes) as database:
        _indexed.add((uri, name))
        yield database


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationStores:
    """Sessions, runs and events over one store."""

    sessions: SessionRepository
    ledger: RunLedger
    waits: Waits
    log: EventLog
    transcripts: Transcripts
    deletions: Callable[[float], Deletions]
    """Due after so many seconds."""

    async def session(self, user_id: UserId = ANNA, title: str = "") -> SessionId:
        """A fresh session."""
        return await add_session(self.sessions, user_id, title)


@dataclass(frozen=True, slots=True, kw_only=True)
class MongoStores(ConversationStores):
    """Every store of the gateway over one database."""

    titles: Titles
    markers: ReadMarkers
    spending: Spending
    settings: SettingsStore
    kinds: UserKinds
    mcp_servers: MongoMcpServers
    sign_ins: MongoSignIns
    skills: SkillStore
    model_call_quota: ModelCallQuota
    background: BackgroundCommands
    schedules: Schedules
    ports: OpenedPorts
    disable: Callable[[UserId], Awaitable[None]]
    """The account of a user, who need have none."""


async def add_session(sessions: SessionRepository, user_id: UserId, title: str = "") -> SessionId:
    """A fresh session; its times are as exact as a database keeps them."""
    now = datetime.now(UTC)
    now = now.replace(microsecond=now.microsecond // 1000 * 1000)
    session_id = SessionId(uuid.uuid4().hex)
    await sessions.add(
        Session(
            id=session_id,
            user_id=user_id,
            title=title,
            status=SessionStatus.IDLE,
            model=None,
            created_at=now,
            updated_at=now,
            active_at=now,
        )
    )
    return session_id


def memory_stores(*, clock: Callable[[], datetime] = utc_now) -> ConversationStores:
    """In memory."""
    store = MemoryStore(clock)
    return ConversationStores(
        sessions=MemorySessionRepository(store),
        ledger=MemoryRunLedger(store),
        waits=MemoryWaits(store),
        log=MemoryEventLog(store),
        transcripts=MemoryTranscripts(store),
        deletions=lambda due_s: MemoryDeletions(store, due_s=due_s),
    )


@asynccontextmanager
async def mongo_stores(
    uri: str,
    name: str,
    *,
    runs_per_user: int = 0,
    max_waiting: int = 0,
    model_call_quota_most: int = 0,
    sessions_most: int = 0,
) -> AsyncGenerator[MongoStores]:
    """On a real mongod."""
    async with connect_modules(uri, name) as database:

        async def disable(user_id: UserId) -> None:
            await database["users"].update_one({"_id": user_id}, {"$set": {"is_active": False}}, upsert=True)

        yield MongoStores(
            sessions=MongoSessionRepository(database),
            ledger=MongoRunLedger(database, runs_per_user=runs_per_user, max_waiting=max_waiting),
            waits=MongoWaits(database),
            log=MongoEventLog(database),
            transcripts=MongoTranscripts(database),
            titles=MongoTitles(database),
            markers=MongoReadMarkers(database),
            spending=MongoSpending(database),
            settings=MongoSettingsStore(),
            kinds=MongoSubagentKinds(),
            mcp_servers=MongoMcpServers(),
            sign_ins=MongoSignIns(),
            skills=MongoSkillStore(database),
            model_call_quota=MongoModelCallQuota(database, most=model_call_quota_most),
            background=MongoBackgroundCommands(database, starts_within_s=BEGINS_WITHIN_S),
            schedules=MongoSchedules(database, max_waiting=max_waiting, sessions_most=sessions_most),
            ports=MongoOpenedPorts(database),
            deletions=lambda due_s: MongoDeletions(due_s=due_s),
            disable=disable,
        )
        assert await _unnamed_fields(database) == {}, "documents name every field that is stored"


async def _unnamed_fields(database: Database) -> dict[str, set[str]]:
    unnamed: dict[str, set[str]] = {}
    for document in (*DOCUMENTS, *MODULE_DOCUMENTS):
        named = {"_id", *document.model_fields}
        name = document.get_settings().name or ""
        async for stored in database[name].find():
            if others := set(stored) - named:
                unnamed.setdefault(name, set()).update(others)
    return unnamed


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveChannels:
    """Both over one Redis."""

    stream: SessionStream
    notifier: Notifier
    redis: Redis
    hub: Hub


@asynccontextmanager
async def redis_channels(uri: str) -> AsyncGenerator[LiveChannels]:
    """On a real redis-server."""
    redis = connect_redis(uri, connect_s=1, reads_for_s=1)
    listener = connect_redis(uri, connect_s=1, reads_for_s=None)
    hub = Hub(listener)
    listening = asyncio.create_task(hub.receive_messages())
    try:
        async with RedisNotifier(redis, hub).listening() as notifier:
            yield LiveChannels(stream=RedisSessionStream(redis, hub), notifier=notifier, redis=redis, hub=hub)
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await listener.aclose()
        await redis.aclose()
