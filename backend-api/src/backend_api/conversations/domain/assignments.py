"""What gateways and workers in processes of their own tell each other, so that a run begins where a slot is free."""

from __future__ import annotations

from typing import NamedTuple

from backend_api.conversations.domain.entity import RunId
from backend_api.kit.ids import SessionId

ANNOUNCE_S = 1.0
"""How often a worker announces itself."""
ANNOUNCED_S = 3.0
"""How long it is believed."""
ASSIGNED_S = 1.0
"""The lease of an assigned run until its worker confirms it: then whoever assigned it tells the others of it."""


class FreeSlots(NamedTuple):
    """How many runs a worker has room for: `Topic.SLOTS_FREE`."""

    room: int
    worker: str

    @classmethod
    def parse(cls, text: str) -> FreeSlots | None:
        """None where the text is not one."""
        count, _, worker = text.partition(" ")
        return cls(int(count), worker) if worker and count.isdecimal() else None

    def __str__(self) -> str:
        return f"{self.room} {self.worker}"


class Assignment(NamedTuple):
    """A run that was leased to a worker in the moment it was queued: `Topic.RUN_ASSIGNED`."""

    session_id: SessionId
    run_id: RunId
    worker: str

    @classmethod
    def parse(cls, text: str) -> Assignment | None:
        """None where the text is not one."""
        session_id, _, rest = text.partition(" ")
        run_id, _, worker = rest.partition(" ")
        return cls(SessionId(session_id), RunId(run_id), worker) if worker else None

    def __str__(self) -> str:
        return f"{self.session_id} {self.run_id} {self.worker}"
