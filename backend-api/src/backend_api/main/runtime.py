"""The common base of gateway and worker: the stores, and all modules opened in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import cast

from pydantic_settings import BaseSettings

from backend_api.kit.background_tasks import background_task
from backend_api.kit.http.ports import Probe
from backend_api.kit.masking import Mask
from backend_api.kit.metrics import ProcessMetrics
from backend_api.kit.mongo.clock import DatabaseClock
from backend_api.main.closing import Closing
from backend_api.main.modules import MODULES
from backend_api.main.settings import Settings, SettingsError, read_settings, secrets_of
from backend_api.main.stores import open_stores
from backend_api.module import Module, Parts, Planned, Task, open_modules, plan_modules
from backend_api.runs.application.title_sessions import TitleSessions
from backend_api.runs.application.worker import Worker

DRAIN_S = 6.0
"""Seconds runs may take to finish their current step; then they are cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Validated settings, so that wrong ones prevent the start before anything is opened."""

    settings: Settings
    modules: Sequence[Module]
    module_settings: Mapping[str, BaseSettings]
    made: Planned
    """The parts that modules made from their settings; `secrets` are those of all settings."""


def plan(settings: Settings, modules: Sequence[Module] = MODULES) -> Plan:
    """Validates the settings of all modules. Raises `SettingsError`."""
    module_settings = {module.name: read_settings(module.settings) for module in modules}
    try:
        made = plan_modules(modules, module_settings, {"data_dir": settings.data_dir, "hosts": settings.host})
    except ValueError as error:
        raise SettingsError(str(error)) from error
    secrets = (*secrets_of(settings, module_settings.values()), *made.secrets)
    return Plan(
        settings=settings, modules=modules, module_settings=module_settings, made=replace(made, secrets=secrets)
    )


@asynccontextmanager
async def open_runtime(planned: Plan, *, is_gateway: bool) -> AsyncGenerator[Parts]:
    """Opens all modules with their tasks until the block ends; the stores are closed last. Its ports are theirs
    together with `required` and `optional`, the probes of required and optional dependencies, and `metrics`."""
    settings, clock = planned.settings, DatabaseClock()
    documents = [one for module in planned.modules for one in module.documents]
    async with open_stores(settings.mongo_uri, settings.mongo_db_name, settings.redis_address, documents) as stores:
        given = {
            **planned.made.ports,
            "mask": Mask(planned.made.secrets),
            "database": stores.database,
            "redis": stores.redis,
            "hub": stores.hub,
            "notifier": stores.notifier,
            "clock": clock,
            "is_gateway": is_gateway,
            "use_background_jobs": settings.use_background_jobs,
            "link_origin": settings.link_origin,
        }
        async with (
            open_modules(planned.modules, planned.module_settings, given) as parts,
            clock.following(stores.database),
            running(parts.tasks),
        ):
            optional: dict[str, Probe] = {"redis": stores.probe_redis}
            optional["sandbox_manager"] = cast("Probe", parts.ports["sandbox_probe"])
            of_process = {
                "required": {"mongodb": stores.probe_database},
                "optional": optional,
                "metrics": ProcessMetrics(stores.database).text,
            }
            yield replace(parts, ports={**parts.ports, **of_process})


@asynccontextmanager
async def running(tasks: Mapping[str, Task]) -> AsyncGenerator[None]:
    """Runs these tasks until the block ends."""
    async with AsyncExitStack() as stack:
        for name, task in tasks.items():
            await stack.enter_async_context(background_task(task(), name))
        yield


@asynccontextmanager
async def working(parts: Parts, closing: Closing) -> AsyncGenerator[None]:
    """Runs the worker until the process ends; it returns its runs before any store is closed."""
    worker, titles = parts.required("worker", Worker), parts.required("title_sessions", TitleSessions)
    async with (
        background_task(titles.title_until_cancelled(), "titles"),
        background_task(worker.work(), "worker") as at_work,
    ):
        closing.on_begin(worker.drain)
        try:
            yield
        finally:
            await asyncio.wait({at_work}, timeout=closing.remaining_s(DRAIN_S))
