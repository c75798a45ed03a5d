"""What a gateway and a worker both stand on: stores, sandboxes and the agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from backend_api.application.conversation.expire_waits import ExpireWaits
from backend_api.application.conversation.finish_deletions import FinishDeletions
from backend_api.application.files.link_file import LinkFile
from backend_api.application.files.own_sandbox import OwnSandbox
from backend_api.bootstrap.agent import Agent, AgentPorts, build_catalogue, open_agent
from backend_api.bootstrap.background_tasks import background_task
from backend_api.bootstrap.sandboxes import SandboxPorts, open_sandboxes
from backend_api.bootstrap.settings import Settings, SettingsError, signing_secret
from backend_api.bootstrap.stores import Stores, open_stores
from backend_api.infrastructure.llm.catalogue import Catalogue
from backend_api.infrastructure.metrics import ProcessMetrics
from backend_api.infrastructure.mongo.change_cursor import MongoChangeCursor
from backend_api.infrastructure.mongo.clock import DatabaseClock
from backend_api.infrastructure.mongo.deletions import MongoDeletions
from backend_api.infrastructure.mongo.event_log import MongoEventLog
from backend_api.infrastructure.mongo.run_ledger import MongoRunLedger
from backend_api.infrastructure.mongo.run_waits import MongoWaits
from backend_api.infrastructure.mongo.session_repository import MongoSessionRepository
from backend_api.infrastructure.security.tokens import JwtFileLinks
from backend_api.interfaces.http.use_cases import Probe


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Settings that were looked at, so that a start with wrong ones is refused before anything is opened."""

    settings: Settings
    secret: str
    catalogue: Catalogue
    links: JwtFileLinks
    clock: DatabaseClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Open until its block ends."""

    stores: Stores
    sandboxes: SandboxPorts
    sessions: MongoSessionRepository
    log: MongoEventLog
    ledger: MongoRunLedger
    waits: MongoWaits
    agent: Agent
    metrics: ProcessMetrics

    @property
    def required(self) -> Mapping[str, Probe]:
        """What nothing works without."""
        return {"mongodb": self.stores.probe_database}

    @property
    def optional(self) -> Mapping[str, Probe]:
        """What some things work without."""
        return {"redis": self.stores.probe_redis, "sandbox_manager": self.sandboxes.probe}


def plan(settings: Settings) -> Plan:
    """Raises `SettingsError`."""
    secret = signing_secret(settings)
    try:
        catalogue = build_catalogue(settings)
    except ValueError as error:
        raise SettingsError(str(error)) from error
    clock = DatabaseClock()
    links = JwtFileLinks(secret, algorithm=settings.jwt_algorithm, clock=clock)
    return Plan(settings=settings, secret=secret, catalogue=catalogue, links=links, clock=clock)


@asynccontextmanager
async def open_runtime(planned: Plan) -> AsyncGenerator[Runtime]:
    """The stores are closed last."""
    settings = planned.settings
    async with open_stores(settings) as stores:
        database = stores.database
        sessions, log = MongoSessionRepository(database), MongoEventLog(database)
        async with open_sandboxes(settings, MongoChangeCursor(), log, stores.stream) as sandboxes:
            ledger = MongoRunLedger(
                database, runs_per_user=settings.max_runs_per_user, unseen_most=settings.max_waiting_messages
            )
            waits = MongoWaits(database)
            ports = AgentPorts(
                ledger=ledger,
                log=log,
                stream=stores.stream,
                notifier=stores.notifier,
                sessions=sessions,
                sandboxes=sandboxes.sandboxes,
                sandbox_tools=sandboxes.tools,
                workspace=sandboxes.workspace,
                link_file=LinkFile(OwnSandbox(sessions, sandboxes.sandboxes), sandboxes.workspace, planned.links),
            )
            async with (
                planned.clock.following(database),
                open_agent(settings, planned.catalogue, ports, planned.clock) as agent,
                background_task(
                    FinishDeletions(MongoDeletions(), sandboxes.sandboxes).delete_until_cancelled(), "deletions"
                ),
                background_task(
                    ExpireWaits(waits=waits, stream=stores.stream, notifier=stores.notifier).expire_until_cancelled(),
                    "waits",
                ),
            ):
                yield Runtime(
                    stores=stores,
                    sandboxes=sandboxes,
                    sessions=sessions,
                    log=log,
                    ledger=ledger,
                    waits=waits,
                    agent=agent,
                    metrics=ProcessMetrics(database),
                )
