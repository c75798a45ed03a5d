"""Messages between gateways and workers in other processes, so that a run begins where a slot is free."""

from __future__ import annotations

from typing import NamedTuple

from backend_api.conversations.domain.entity import RunId
from backend_api.kit.ids import SessionId

ANNOUNCE_S = 1.0
"""Seconds between a worker's announcements."""
ANNOUNCED_S = 3.0
"""Seconds an announcement is valid."""
ASSIGNED_S = 1.0
"""The lease, in seconds, of an assigned run until its worker confirms it; when it lapses, the assigner notifies the
other workers."""


class FreeSlots(NamedTuple):
    """The number of runs a worker has room for: `Topic.SLOTS_FREE`."""

    room: int
    worker: str

    @classmethod
    def parse(cls, text: str) -> FreeSlots | None:
        """The slots in a text, or None if it is not valid."""
        count, _, worker = text.partition(" ")
        return cls(int(count), worker) if worker and count.isdecimal() else None

    def __str__(self) -> str:
        return f"{self.room} {self.worker}"


class Assignment(NamedTuple):
    """A run that was leased to a worker at the moment it was queued: `Topic.RUN_ASSIGNED`."""

    session_id: SessionId
    run_id: RunId
    worker: str

    @classmethod
    def parse(cls, text: str) -> Assignment | None:
        """The assignment in a text, or None if it is not valid."""
        session_id, _, rest = text.partition(" ")
        run_id, _, worker = rest.partition(" ")
        return cls(SessionId(session_id), RunId(run_id), worker) if worker else None

    def __str__(self) -> str:
        return f"{self.session_id} {self.run_id} {self.worker}"
