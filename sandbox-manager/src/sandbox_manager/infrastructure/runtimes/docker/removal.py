"""Taking away all there is of a sandbox at the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sandbox_manager.domain.errors import EngineUnavailableError, StartFailedError
from sandbox_manager.domain.sandbox import Identity
from sandbox_manager.infrastructure.runtimes.docker import naming
from sandbox_manager.infrastructure.runtimes.docker.engine import SAME_AS, Engine, dig
from sandbox_manager.infrastructure.runtimes.docker.guard import guard_name
from sandbox_manager.infrastructure.runtimes.threads import Threads


async def remove_all(engine: Engine, pool: Threads, stack: str, identity: Identity, *, keep_workspace: bool) -> None:
    """What nothing holds goes while the container ends; network and workspace go side by side after it.

    Raises `EngineUnavailableError`; each part is there in whole or not at all then.
    """
    archives = [] if keep_workspace else [lambda: engine.remove_volume(naming.archives_name(stack, identity))]
    await _side_by_side(
        pool,
        lambda: engine.remove_container(guard_name(stack, identity)),
        lambda: engine.remove_container(naming.container_name(stack, identity)),
        *archives,
    )
    await _side_by_side(
        pool,
        lambda: _remove_network(engine, naming.network_name(stack, identity)),
        lambda: _remove_workspace(engine, stack, identity, keep=keep_workspace),
    )


async def _side_by_side(pool: Threads, *calls: Callable[[], None]) -> None:
    """All of them end before the first trouble is told."""
    for outcome in await asyncio.gather(*(pool.run(call) for call in calls), return_exceptions=True):
        if isinstance(outcome, StartFailedError):
            raise EngineUnavailableError(f"{outcome.detail} The removal is tried again.") from outcome
        if outcome is not None:
            raise outcome


def _remove_network(engine: Engine, name: str) -> None:
    for container in dig(engine.network(name), "Containers") or ():
        engine.disconnect(container, name)
    engine.remove_network(name)


def _remove_workspace(engine: Engine, stack: str, identity: Identity, *, keep: bool) -> None:
    """With the one it was pooled with, unless another name leads there."""
    if not keep:
        engine.remove_volume(naming.volume_name(stack, identity))
    pooled = naming.pool_volume_name(stack, identity)
    if not engine.volumes(f"{SAME_AS}={pooled}"):
        engine.remove_volume(pooled)
