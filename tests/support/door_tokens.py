"""Tokens for the door of a tool API that a test started itself."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from backend_api.domain.sandbox.entity import Computer, Scope
from contracts.sandboxes import DoorToken
from support.door import RunningDoor


class FixedTokens:
    """Door tokens signed here. `stale` gives one refused token first."""

    def __init__(self, door: RunningDoor) -> None:
        self._door = door
        self.address = f"unix:{door.socket}"
        self.stale = False
        self.forgotten = 0

    async def token(self, computer: Computer, scopes: Iterable[Scope]) -> DoorToken:
        claims = {"exp": 1} if self.stale else {}
        return DoorToken(
            token=self._door.keys.token(scopes=[scope.value for scope in scopes], **claims),
            expires_at=datetime.now(UTC) + timedelta(seconds=300),
            door=self.address,
            sandbox_id=computer.id,
            generation=computer.generation,
        )

    def forget(self, computer: Computer) -> None:
        self.stale = False
        self.forgotten += 1
