"""Removal of everything a sandbox has at the engine."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable

from sandbox_manager.domain.errors import EngineUnavailableError, StartFailedError
from sandbox_manager.domain.sandbox import Identity
from sandbox_manager.infrastructure.runtimes.docker import naming
from sandbox_manager.infrastructure.runtimes.docker.engine import SAME_AS, Engine, dig
from sandbox_manager.infrastructure.runtimes.docker.guard import guard_names
from sandbox_manager.infrastructure.runtimes.threads import Threads


async def remove_all(engine: Engine, pool: Threads, stack: str, identity: Identity, *, keep_workspace: bool) -> None:
    """Remove the container, the network, which is emptied first so that it goes while the container ends, and then the
    workspace.

    Raises `EngineUnavailableError`; each part is there in whole or not at all then.
    """
    network = naming.network_name(stack, identity)
    archives = [] if keep_workspace else [lambda: engine.remove_volume(naming.archives_name(stack, identity))]
    is_empty = await pool.run_call(lambda: _is_emptied(engine, network))
    early = [lambda: engine.remove_network(network)] if is_empty else []
    await _side_by_side(
        pool,
        *(functools.partial(engine.remove_container, name) for name in guard_names(stack, identity)),
        lambda: engine.remove_container(naming.container_name(stack, identity)),
        *early,
        *archives,
    )
    late = [] if early else [lambda: _remove_network(engine, network)]
    await _side_by_side(pool, lambda: _remove_workspace(engine, stack, identity, keep=keep_workspace), *late)


async def _side_by_side(pool: Threads, *calls: Callable[[], None]) -> None:
    """Run the calls side by side; all of them end before the first error is raised."""
    for outcome in await asyncio.gather(*(pool.run_call(call) for call in calls), return_exceptions=True):
        if isinstance(outcome, StartFailedError):
            raise EngineUnavailableError(f"{outcome.detail} The removal is retried.") from outcome
        if outcome is not None:
            raise outcome


def _is_emptied(engine: Engine, network: str) -> bool:
    """Empty the network; False if a container would not let go of it yet, as it does when it ends."""
    try:
        _disconnect_all(engine, network)
    except (EngineUnavailableError, StartFailedError):
        return False
    return True


def _remove_network(engine: Engine, name: str) -> None:
    _disconnect_all(engine, name)
    engine.remove_network(name)


def _disconnect_all(engine: Engine, network: str) -> None:
    for container in dig(engine.network(network), "Containers") or ():
        engine.disconnect(container, network)


def _remove_workspace(engine: Engine, stack: str, identity: Identity, *, keep: bool) -> None:
    """Remove the workspace unless it is kept, and the volume it was pooled with unless another name leads there."""
    if not keep:
        engine.remove_volume(naming.volume_name(stack, identity))
    pooled = naming.pool_volume_name(stack, identity)
    if not engine.volumes(f"{SAME_AS}={pooled}"):
        engine.remove_volume(pooled)
