"""Hear of every change of a sandbox, from whichever manager made it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from sandbox_manager.domain.ports import Change, SandboxRegistry


@dataclass(frozen=True, slots=True)
class FollowChanges:
    """Changes from now, or after a mark, without hole; entering has subscribed.

    Raises `MarkLostError`, `RegistryUnavailableError`.
    """

    registry: SandboxRegistry

    def __call__(self, after: str | None) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        return self.registry.changes(after)
