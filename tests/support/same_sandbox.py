"""One real tool API behind every session."""

from __future__ import annotations

from backend_api.sandboxes.domain.entity import Sandbox
from support.memory.sandboxes import MemorySandboxes


class SameSandbox(MemorySandboxes):
    """Every session's computer is the one given."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__()
        self._sandbox = sandbox

    async def ensure(self, session_id: str, user_id: str, *, queue_s: float | None = None) -> Sandbox:
        return self._sandbox

    async def running(self, session_id: str) -> Sandbox | None:
        return self._sandbox
