"""One real tool API behind every session."""

from __future__ import annotations

from backend_api.domain.sandbox.entity import Computer
from backend_api.infrastructure.memory.computers import MemoryComputers


class SameComputer(MemoryComputers):
    """Every session's computer is the one given."""

    def __init__(self, computer: Computer) -> None:
        super().__init__()
        self._computer = computer

    async def ensure(self, session_id: str, user_id: str) -> Computer:
        return self._computer
