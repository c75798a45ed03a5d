"""Compare-and-set over the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sandbox_manager.domain.errors import RegistryUnavailableError
from sandbox_manager.domain.ports import SandboxRecords
from sandbox_manager.domain.sandbox import Sandbox

_ATTEMPTS = 20


async def change_sandbox(
    registry: SandboxRecords,
    sandbox_id: str,
    move: Callable[[Sandbox], Sandbox | None],
    *,
    known: Sandbox | None = None,
) -> Sandbox | None:
    """Apply a move to the newest record until it is stored; None if there is no record or the move declines.

    `known` is the record as just read: it saves another read if nobody changed it since.
    """
    if known is not None and (changed := await _save(registry, move(known))) is not None:
        return changed
    for _ in range(_ATTEMPTS):
        sandbox = await registry.get(sandbox_id)
        wanted = move(sandbox) if sandbox else None
        if wanted is None:
            return None
        if (changed := await _save(registry, wanted)) is not None:
            return changed
    raise RegistryUnavailableError("The sandbox's record was changed by other requests at the same time; try again.")


async def _save(registry: SandboxRecords, wanted: Sandbox | None) -> Sandbox | None:
    if wanted is None or not await registry.save(wanted):
        return None
    return replace(wanted, version=wanted.version + 1)
