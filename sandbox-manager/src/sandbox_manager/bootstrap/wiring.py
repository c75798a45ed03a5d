"""Adapters built, handed to use cases, and closed in the right order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncGenerator
from datetime import timedelta

from sandbox_manager.application.admission import Admission
from sandbox_manager.application.claim_sandbox import ClaimSandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox
from sandbox_manager.application.create_sandbox import CreateSandbox
from sandbox_manager.application.delete_sandbox import DeleteSandbox
from sandbox_manager.application.follow_changes import FollowChanges
from sandbox_manager.application.get_sandbox import GetSandbox
from sandbox_manager.application.keep_alive import KeepAlive
from sandbox_manager.application.launch_sandbox import Launcher
from sandbox_manager.application.list_sandboxes import ListSandboxes
from sandbox_manager.application.mint_token import MintToken
from sandbox_manager.application.pause_sandbox import PauseSandbox, ResumeSandbox
from sandbox_manager.application.pool import Pool, PoolParts
from sandbox_manager.application.presence import Presence
from sandbox_manager.application.read_stats import ReadStats
from sandbox_manager.application.reconcile import Reconcile
from sandbox_manager.application.remove_all import RemoveAll
from sandbox_manager.application.renew_sandbox import RenewSandbox
from sandbox_manager.application.sandbox_work import SandboxWork
from sandbox_manager.application.whereabouts import is_elsewhere
from sandbox_manager.application.workspace_work import WorkspaceWork
from sandbox_manager.bootstrap.runtimes import RUNTIMES
from sandbox_manager.bootstrap.settings import KeepingSettings, Settings
from sandbox_manager.bootstrap.upkeep import Upkeep
from sandbox_manager.bootstrap.workspaces import workspace_cases
from sandbox_manager.domain.admission import Limits, Room
from sandbox_manager.domain.clocks import Clocks
from sandbox_manager.domain.disk import DiskLimit
from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.ports import Clock, Leases, Runtime, SandboxRegistry, TokenKeys
from sandbox_manager.infrastructure.clock import SystemClock
from sandbox_manager.infrastructure.free_memory import free_memory
from sandbox_manager.infrastructure.metrics import ProcessMetrics
from sandbox_manager.infrastructure.mongo.clock import database_clock
from sandbox_manager.infrastructure.mongo.connect import connected, load_token_keys
from sandbox_manager.infrastructure.mongo.leases import MongoLeases
from sandbox_manager.infrastructure.mongo.registry import MongoRegistry
from sandbox_manager.infrastructure.mongo.workspaces import MongoWorkspaces
from sandbox_manager.interfaces.http.use_cases import UseCases

_log = logging.getLogger(__name__)

_SHUTDOWN_S = 30.0
_MIB = 1024 * 1024
_ROOMY, _LARGE = 4096 * _MIB, 32_768 * _MIB


@contextlib.asynccontextmanager
async def wire(settings: Settings) -> AsyncGenerator[UseCases]:
    """Everything real, by the settings."""
    async with connected(settings.registry.uri.get_secret_value(), settings.registry.name):
        keys = await load_token_keys()
        async with RUNTIMES[settings.keeping.runtime](settings) as runtime:
            _log.info("runtime chosen", extra={"runtime": runtime.name, "stack": settings.keeping.stack})
            async with (
                database_clock() as clock,
                keep(settings, MongoRegistry(), MongoLeases(), runtime, keys, clock) as use_cases,
            ):
                yield use_cases


@contextlib.asynccontextmanager
async def keep(
    settings: Settings, registry: SandboxRegistry, leases: Leases, runtime: Runtime, keys: TokenKeys, clock: Clock
) -> AsyncGenerator[UseCases]:
    """The use cases over given adapters, with the upkeep running. Tokens use this machine's clock, as endpoints do."""
    keeping, wall, owner = settings.keeping, SystemClock(), secrets.token_hex(8)
    limits, clocks = _limits(keeping), _clocks(keeping)
    work = SandboxWork(registry, owner)
    clean = CleanSandbox(registry, runtime, clock, work)
    files = WorkspaceWork(
        MongoWorkspaces(),
        runtime.archives,
        clock,
        owner,
        lambda session_id: is_elsewhere(registry, runtime.place, session_id),
    )
    launcher = Launcher(
        registry=registry,
        runtime=runtime,
        keys=keys,
        clean=clean,
        work=work,
        deadline_s=keeping.start_deadline_s,
        files_ready=files.ready_to_start,
        claim=ClaimSandbox(runtime=runtime, keys=keys, wall=wall, clean=clean),
    )
    delete = DeleteSandbox(registry, launcher, clean)
    workspaces = workspace_cases(settings.workspaces, files, registry, delete, runtime)
    presence = Presence(leases, runtime, clock, owner)
    keep_alive = KeepAlive(
        registry=registry,
        runtime=runtime,
        keys=keys,
        clock=clock,
        wall=wall,
        idle=clocks.idle,
        disk=DiskLimit(settings.inside.disk_mb * _MIB, settings.inside.max_files),
    )
    pool = Pool(
        PoolParts(
            registry=registry,
            runtime=runtime,
            keys=keys,
            clock=clock,
            leases=leases,
            clean=clean,
            keep_alive=keep_alive,
            limits=limits,
            room=lambda: _room(keeping),
        ),
        size=pool_size(settings, runtime.name),
        deadline_s=keeping.start_deadline_s,
    )
    admission = Admission(
        registry=registry,
        runtime=runtime,
        launcher=launcher,
        clean=clean,
        limits=limits,
        room=lambda: _room(keeping),
        recipe=pool.recipe,
    )
    pause = PauseSandbox(registry=registry, runtime=runtime, clock=clock, clean=clean, keep=clocks.pause)
    resume = ResumeSandbox(
        registry=registry,
        runtime=runtime,
        clock=clock,
        clean=clean,
        idle=clocks.idle,
        admission=admission,
        pause=pause,
    )
    renew = RenewSandbox(registry, clock, clocks.idle, resume)
    use_cases = UseCases(
        create=CreateSandbox(
            registry=registry,
            runtime=runtime,
            clock=clock,
            clean=clean,
            renew=renew,
            admission=admission,
            presence=presence,
            patience=clocks.orphan,
        ),
        get=GetSandbox(registry, launcher, clock),
        list=ListSandboxes(registry),
        renew=renew,
        mint=MintToken(registry, keys, wall, renew),
        delete=delete,
        reconcile=Reconcile(
            registry=registry,
            runtime=runtime,
            clock=clock,
            clean=clean,
            clocks=clocks,
            presence=presence,
            keep_alive=keep_alive,
            pause=pause.when_idle if clocks.pause else None,
            mend=resume.mend,
        ),
        pause=pause,
        resume=resume,
        follow=FollowChanges(registry),
        workspaces=workspaces,
        stats=ReadStats(registry=registry, runtime=runtime, keep_alive=keep_alive, room=admission.room, limits=limits),
        service_token=settings.server.token.get_secret_value(),
        dependencies={"mongo": registry.check, "runtime": runtime.check},
        metrics=ProcessMetrics(registry).text,
        metrics_token=settings.server.metrics_token.get_secret_value(),
    )
    upkeep = Upkeep(
        reconcile=use_cases.reconcile,
        tend=workspaces.tend,
        resume=resume,
        pool=pool,
        presence=presence,
        leases=leases,
        runtime=runtime,
        owner=owner,
        interval_s=keeping.reconcile_interval_s,
    )
    try:
        async with upkeep.running():
            yield use_cases
    finally:
        await launcher.close()
        await _leave(presence, RemoveAll(registry, delete, clean) if keeping.remove_on_shutdown else None)


def _limits(keeping: KeepingSettings) -> Limits:
    hard = timedelta(hours=keeping.hard_hours)
    return Limits(
        max_per_user=keeping.max_per_user,
        max_per_user_total=keeping.max_per_user_total,
        max_total=keeping.max_total,
        max_queued=keeping.max_queued,
        queue=timedelta(seconds=keeping.queue_timeout_s),
        hard=hard,
        idle=timedelta(minutes=keeping.idle_minutes),
    )


def pool_size(settings: Settings, runtime: str) -> int:
    """As it is set; else one where nobody would miss the memory, and two on a large machine."""
    given, free = settings.keeping.pool_size, free_memory()
    if given is not None:
        return given
    if runtime == "fake" or free is None:
        return 0
    return 2 if free >= _LARGE else int(free >= _ROOMY)


def _clocks(keeping: KeepingSettings) -> Clocks:
    return Clocks(
        idle=timedelta(minutes=keeping.idle_minutes),
        pause=timedelta(minutes=keeping.pause_minutes),
        warning=timedelta(minutes=keeping.warning_minutes),
        orphan=timedelta(minutes=keeping.orphan_minutes),
    )


async def _room(keeping: KeepingSettings) -> Room:
    return Room(
        free=free_memory() if keeping.admit_memory_mb else None,
        need=keeping.admit_memory_mb * _MIB,
        reserve=keeping.reserve_memory_mb * _MIB,
    )


async def _leave(presence: Presence, remove_all: RemoveAll | None) -> None:
    """Only the last manager of a place takes its sandboxes along."""
    try:
        async with asyncio.timeout(_SHUTDOWN_S):
            if await presence.leave() and remove_all is not None:
                await remove_all()
    except (TimeoutError, DomainError):
        _log.exception("sandboxes left at shutdown; the next start removes them")
