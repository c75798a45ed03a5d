"""The one place that builds the adapters and hands them to the use cases."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from backend_api.application.files.link_file import LinkFile
from backend_api.application.identity.limits import Limits
from backend_api.application.runs.announced_computers import AnnouncedComputers
from backend_api.bootstrap.agent import AgentPorts, build_catalogue, open_agent
from backend_api.bootstrap.app import Wire
from backend_api.bootstrap.assembly import Policy, Ports, assemble
from backend_api.bootstrap.computers import open_computers
from backend_api.bootstrap.settings import Settings, SettingsError, signing_secret
from backend_api.bootstrap.stores import open_stores
from backend_api.infrastructure.mongo.event_log import MongoEventLog
from backend_api.infrastructure.mongo.refresh_tokens import MongoRefreshTokens
from backend_api.infrastructure.mongo.run_ledger import MongoRunLedger
from backend_api.infrastructure.mongo.session_repository import MongoSessionRepository
from backend_api.infrastructure.mongo.transcripts import MongoTranscripts
from backend_api.infrastructure.mongo.users import MongoUsers
from backend_api.infrastructure.redis.rate_limiter import RedisRateLimiter
from backend_api.infrastructure.redis.tickets import RedisTickets
from backend_api.infrastructure.security.passwords import Argon2Passwords
from backend_api.infrastructure.security.tokens import JwtAccessTokens, JwtFileLinks
from backend_api.interfaces.http.use_cases import UseCases, WebOptions

HANDOVER_S = 5.0


def _settle_memory() -> None:
    """What is loaded by now stays: the collector need not walk it again and again while answers stream."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


def web_options(settings: Settings) -> WebOptions:
    """What the edge must know of the settings."""
    return WebOptions(
        is_local=settings.is_local,
        allowed_hosts=settings.allowed_hosts,
        cors_origins=settings.cors_origins,
        max_upload_bytes=settings.max_upload_bytes,
        frontend=settings.frontend_dist,
    )


def wire_with(settings: Settings) -> Wire:
    """The wiring of these settings, to be entered once. Raises `SettingsError`."""
    secret = signing_secret(settings)
    try:
        catalogue = build_catalogue(settings)
    except ValueError as error:
        raise SettingsError(str(error)) from error
    links = JwtFileLinks(secret, algorithm=settings.jwt_algorithm)
    access_tokens = JwtAccessTokens(
        secret, algorithm=settings.jwt_algorithm, expires_s=settings.access_token_expire_minutes * 60
    )
    policy = Policy(
        is_local=settings.is_local,
        is_registration_open=settings.registration_open,
        limits=Limits(
            login_per_minute=settings.rate_limit_login_per_minute,
            register_per_hour=settings.rate_limit_register_per_hour,
            messages_per_minute=settings.rate_limit_messages_per_minute,
        ),
        refresh_lifetime=timedelta(days=settings.refresh_token_expire_days),
    )

    @asynccontextmanager
    async def wire() -> AsyncGenerator[UseCases]:
        async with open_stores(settings) as stores, open_computers(settings) as computers:
            database = stores.database
            sessions, log = MongoSessionRepository(database), MongoEventLog(database)
            ledger = MongoRunLedger(database)
            announced = AnnouncedComputers(computers.computers, log, stores.tail)
            ports = AgentPorts(
                ledger=ledger,
                log=log,
                tail=stores.tail,
                signals=stores.signals,
                sessions=sessions,
                computers=announced,
                sandbox_tools=computers.tools,
                link_file=LinkFile(sessions, links),
            )
            async with open_agent(settings, catalogue, ports) as agent:
                use_cases = assemble(
                    Ports(
                        users=MongoUsers(database),
                        refresh_tokens=MongoRefreshTokens(database),
                        passwords=Argon2Passwords(),
                        access_tokens=access_tokens,
                        limiter=RedisRateLimiter(stores.redis),
                        sessions=sessions,
                        ledger=ledger,
                        log=log,
                        transcripts=MongoTranscripts(database),
                        tail=stores.tail,
                        signals=stores.signals,
                        computers=announced,
                        workspace=computers.workspace,
                        screens=computers.screens,
                        tickets=RedisTickets(stores.redis),
                        links=links,
                        models=agent.models,
                        tools=agent.tools,
                        desk=agent.worker,
                        required={"mongodb": stores.probe_database},
                        optional={"redis": stores.probe_redis, "sandbox_manager": computers.probe},
                    ),
                    policy,
                )
                working = asyncio.create_task(agent.worker.run(), name="worker")
                _settle_memory()
                try:
                    yield use_cases
                finally:
                    # The worker hands its runs over before any store is closed.
                    working.cancel()
                    await asyncio.wait({working}, timeout=HANDOVER_S)

    return wire
