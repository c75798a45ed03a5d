"""Follow every change of a sandbox, by whichever manager."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from sandbox_manager.domain.ports import Change, SandboxChanges


@dataclass(frozen=True, slots=True)
class FollowChanges:
    """Changes from now, or after a mark, without gaps, except those of the pool; entering subscribes.

    Raises `MarkLostError`, `RegistryUnavailableError`.
    """

    registry: SandboxChanges

    def __call__(self, after: str | None) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        return self._follow(after)

    @asynccontextmanager
    async def _follow(self, after: str | None) -> AsyncGenerator[AsyncIterator[Change]]:
        async with self.registry.changes(after) as changes:
            yield (change async for change in changes if not change.sandbox.is_pooled)
