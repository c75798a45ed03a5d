"""Adapters built, handed to use cases, and closed in the right order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncGenerator
from datetime import timedelta

from sandbox_manager.application.clean_sandbox import CleanSandbox
from sandbox_manager.application.create_sandbox import CreateSandbox, Limits
from sandbox_manager.application.delete_sandbox import DeleteSandbox
from sandbox_manager.application.get_sandbox import GetSandbox
from sandbox_manager.application.launch_sandbox import Launcher
from sandbox_manager.application.list_sandboxes import ListSandboxes
from sandbox_manager.application.mint_token import MintToken
from sandbox_manager.application.reconcile import Reconcile
from sandbox_manager.application.remove_all import RemoveAll
from sandbox_manager.application.renew_sandbox import RenewSandbox
from sandbox_manager.bootstrap.runtimes import RUNTIMES
from sandbox_manager.bootstrap.settings import Settings
from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.ports import Clock, DoorKeys, Runtime, SandboxRegistry
from sandbox_manager.infrastructure.clock import SystemClock
from sandbox_manager.infrastructure.mongo.connect import connected, load_door_keys
from sandbox_manager.infrastructure.mongo.registry import MongoRegistry
from sandbox_manager.interfaces.http.use_cases import UseCases

_log = logging.getLogger(__name__)

_SHUTDOWN_S = 30.0


@contextlib.asynccontextmanager
async def wire(settings: Settings) -> AsyncGenerator[UseCases]:
    """Everything real, by the settings."""
    async with connected(settings.registry.uri.get_secret_value(), settings.registry.name):
        keys = await load_door_keys()
        async with RUNTIMES[settings.keeping.runtime](settings) as runtime:
            _log.info("runtime chosen", extra={"runtime": runtime.name, "stack": settings.keeping.stack})
            async with keep(settings, MongoRegistry(), runtime, keys, SystemClock()) as use_cases:
                yield use_cases


@contextlib.asynccontextmanager
async def keep(
    settings: Settings, registry: SandboxRegistry, runtime: Runtime, keys: DoorKeys, clock: Clock
) -> AsyncGenerator[UseCases]:
    """The use cases over given adapters, with the reconciler running."""
    idle = timedelta(minutes=settings.keeping.idle_minutes)
    clean = CleanSandbox(registry, runtime, clock)
    launcher = Launcher(
        registry=registry,
        runtime=runtime,
        keys=keys,
        clock=clock,
        clean=clean,
        owner=secrets.token_hex(8),
        deadline_s=settings.keeping.start_deadline_s,
    )
    limits = Limits(
        max_per_user=settings.keeping.max_per_user,
        max_total=settings.keeping.max_total,
        hard=timedelta(hours=settings.keeping.hard_hours),
        idle=idle,
    )
    renew = RenewSandbox(registry, clock, idle)
    delete = DeleteSandbox(registry, launcher, clean)
    use_cases = UseCases(
        create=CreateSandbox(
            registry=registry, runtime=runtime, clock=clock, launcher=launcher, clean=clean, limits=limits
        ),
        get=GetSandbox(registry, launcher),
        list=ListSandboxes(registry),
        renew=renew,
        mint=MintToken(registry, keys, clock, renew),
        delete=delete,
        reconcile=Reconcile(registry, runtime, clock, clean),
        service_token=settings.server.token.get_secret_value(),
        dependencies={"mongo": registry.check, "runtime": runtime.check},
    )
    sweeper = asyncio.create_task(_sweep(use_cases.reconcile, settings.keeping.reconcile_interval_s), name="reconciler")
    try:
        yield use_cases
    finally:
        sweeper.cancel()
        await asyncio.wait({sweeper})
        await launcher.close()
        if settings.keeping.remove_on_shutdown:
            await _remove_all(RemoveAll(registry, delete))


async def _sweep(reconcile: Reconcile, interval_s: float) -> None:
    while True:
        try:
            await reconcile()
        except DomainError as error:
            _log.warning("sweep failed", extra={"reason": error.detail})
        except Exception:  # noqa: BLE001 - edge of an owned task
            _log.exception("sweep crashed")
        await asyncio.sleep(interval_s)


async def _remove_all(remove_all: RemoveAll) -> None:
    try:
        async with asyncio.timeout(_SHUTDOWN_S):
            await remove_all()
    except (TimeoutError, DomainError):
        _log.exception("sandboxes left at shutdown; the next start removes them")
