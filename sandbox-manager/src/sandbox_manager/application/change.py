"""Compare-and-set over the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sandbox_manager.domain.errors import RegistryUnavailableError
from sandbox_manager.domain.ports import SandboxRegistry
from sandbox_manager.domain.sandbox import Sandbox

_ATTEMPTS = 20


async def change_sandbox(
    registry: SandboxRegistry, sandbox_id: str, move: Callable[[Sandbox], Sandbox | None]
) -> Sandbox | None:
    """Apply a move to the newest record until it is stored; None when there is no record or the move declines."""
    for _ in range(_ATTEMPTS):
        sandbox = await registry.get(sandbox_id)
        changed = move(sandbox) if sandbox else None
        if changed is None:
            return None
        if await registry.save(changed):
            return replace(changed, version=changed.version + 1)
    raise RegistryUnavailableError("The sandbox's record is being changed by others all the time; try again.")
