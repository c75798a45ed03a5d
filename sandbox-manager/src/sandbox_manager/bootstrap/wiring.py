"""Adapters built, handed to use cases, and closed in the right order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from sandbox_manager.application.presence import Presence
from sandbox_manager.application.remove_all import RemoveAll
from sandbox_manager.bootstrap.assembly import Adapters, Assembly, Rules, Runtime, assemble
from sandbox_manager.bootstrap.runtimes import RUNTIMES
from sandbox_manager.bootstrap.settings import LifecycleSettings, Settings
from sandbox_manager.bootstrap.upkeep import Upkeep
from sandbox_manager.bootstrap.workspaces import workspace_cases
from sandbox_manager.domain.admission import Limits, Room
from sandbox_manager.domain.clocks import Clocks
from sandbox_manager.domain.disk import DiskLimit
from sandbox_manager.domain.errors import DomainError
from sandbox_manager.infrastructure.machine import SystemClock, free_memory
from sandbox_manager.infrastructure.manager_process import has_ended, name_manager
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
_RESERVE = 256 * _MIB
"""Memory that stays free for everything else when one more sandbox is started."""


def wire(settings: Settings) -> AbstractAsyncContextManager[UseCases]:
    """The use cases over real adapters, by the settings."""
    return wire_over(settings, RUNTIMES[settings.lifecycle.runtime](settings))


@contextlib.asynccontextmanager
async def wire_over(settings: Settings, opening: AbstractAsyncContextManager[Runtime]) -> AsyncGenerator[UseCases]:
    """The database of the settings, and a runtime that is opened once the database answers."""
    async with connected(settings.registry.uri.get_secret_value(), settings.registry.name):
        keys = await load_token_keys()
        async with opening as runtime, database_clock() as clock:
            _log.info("runtime chosen", extra={"runtime": runtime.name, "stack": settings.lifecycle.stack})
            adapters = Adapters(
                registry=MongoRegistry(),
                leases=MongoLeases(),
                workspaces=MongoWorkspaces(),
                runtime=runtime,
                keys=keys,
                clock=clock,
                wall=SystemClock(),
                has_ended=has_ended,
            )
            made = assemble(adapters, rules_of(settings), name_manager())
            async with at_work(settings, made) as use_cases:
                yield use_cases


@contextlib.asynccontextmanager
async def at_work(settings: Settings, made: Assembly) -> AsyncGenerator[UseCases]:
    """The use cases as the routes know them, with the upkeep running."""
    keeping, runtime, registry = settings.lifecycle, made.adapters.runtime, made.adapters.registry
    workspaces = workspace_cases(settings.workspaces, made.files, registry, made.delete, runtime)
    use_cases = UseCases(
        create=made.create,
        choices=made.choices,
        get=made.get,
        list=made.list,
        renew=made.renew,
        mint=made.mint,
        delete=made.delete,
        reconcile=made.reconcile,
        pause=made.pause,
        resume=made.resume,
        follow=made.follow,
        workspaces=workspaces,
        stats=made.stats,
        service_token=settings.server.token.get_secret_value(),
        dependencies={"mongo": registry.check, "runtime": runtime.check},
        metrics=ProcessMetrics(registry).text,
        metrics_token=settings.server.metrics_token.get_secret_value(),
    )
    upkeep = Upkeep(
        reconcile=made.reconcile,
        tend=workspaces.tend,
        resume=made.resume,
        pool=made.pool,
        presence=made.presence,
        leases=made.adapters.leases,
        host=runtime,
        monitor=runtime,
        owner=made.owner,
        interval_s=keeping.tuning["sweep-ms"] / 1000,
    )
    try:
        async with upkeep.running():
            await made.choices.log_missing()
            yield use_cases
    finally:
        await made.launcher.close()
        await _shut_down(made.presence, made.remove_all if keeping.remove_on_shutdown else None)


def rules_of(settings: Settings) -> Rules:
    """The rules that the settings give."""
    keeping = settings.lifecycle
    return Rules(
        limits=_limits(keeping),
        clocks=_clocks(keeping),
        disk=DiskLimit(settings.inside.disk_mb * _MIB, keeping.tuning["files"]),
        room=lambda: _room(keeping),
        pool_size=pool_size(settings),
        configurations=settings.configurations,
        start_deadline_s=keeping.tuning["start-s"],
    )


def _limits(lifecycle: LifecycleSettings) -> Limits:
    hard = timedelta(hours=lifecycle.hard_hours)
    return Limits(
        max_per_user=lifecycle.max_per_user,
        max_per_user_total=lifecycle.max_per_user_total,
        max_total=lifecycle.max_total,
        queue=timedelta(seconds=lifecycle.tuning["queue-s"]),
        hard=hard,
        idle=timedelta(minutes=lifecycle.idle_minutes),
    )


def pool_size(settings: Settings) -> int:
    """The pool size that is set; by default one if the memory can be spared, and two on a large machine."""
    given, free = settings.lifecycle.pool_size, free_memory()
    if given is not None:
        return given
    if free is None:
        return 0
    return 2 if free >= _LARGE else int(free >= _ROOMY)


def _clocks(lifecycle: LifecycleSettings) -> Clocks:
    return Clocks(
        idle=timedelta(minutes=lifecycle.idle_minutes),
        pause=timedelta(minutes=lifecycle.pause_minutes),
        orphan=timedelta(seconds=lifecycle.tuning["orphan-s"]),
    )


async def _room(lifecycle: LifecycleSettings) -> Room:
    return Room(
        free=free_memory() if lifecycle.tuning["spare-mb"] else None,
        need=lifecycle.tuning["spare-mb"] * _MIB,
        reserve=_RESERVE,
    )


async def _shut_down(presence: Presence, remove_all: RemoveAll | None) -> None:
    """Withdraw this manager; the last one of a place removes its sandboxes."""
    try:
        async with asyncio.timeout(_SHUTDOWN_S):
            if await presence.leave() and remove_all is not None:
                await remove_all()
    except (TimeoutError, DomainError):
        _log.exception("sandboxes left at shutdown; the next start removes them")
