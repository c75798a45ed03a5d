"""List the sandboxes of a user or session."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_manager.domain.ports import SandboxRecords
from sandbox_manager.domain.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class ListSandboxes:
    """Return the newest generation of each session that matches, newest first; sandboxes of the pool belong to nobody.

    A sandbox that was given up before it was ready counts only if there is no other: the one before it is still the
    last real one."""

    registry: SandboxRecords

    async def __call__(self, *, user_id: str | None = None, session_id: str | None = None) -> list[Sandbox]:
        newest: dict[str, Sandbox] = {}
        for sandbox in await self.registry.find(user_id=user_id, session_id=session_id):
            if sandbox.is_pooled:
                continue
            known = newest.get(sandbox.identity.session_id)
            if known is None or _rank(known) < _rank(sandbox):
                newest[sandbox.identity.session_id] = sandbox
        return sorted(newest.values(), key=lambda one: one.created_at, reverse=True)


def _rank(sandbox: Sandbox) -> tuple[bool, int]:
    return not sandbox.was_never_there, sandbox.identity.generation
