"""Control of a session's computer: one lease, which its client renews while a person is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend_api.agent.events import Event
from backend_api.kit.errors import ConflictError

LEASE_S = 7.0
"""The life of a lease: a client silent for longer has lost control, which is noticed within ten seconds."""
MAX_NOTE_CHARACTERS = 4_000
QUESTION = "control:taken"
"""The id of the question of `ask_to_drive`, which no question of `ask_user` can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlLease:
    """The lease. `holder` is the person who controls the computer, in words; `client` is the window or program that
    renews it."""

    holder: str
    client: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class TakenLease:
    """The lease after it was taken, and its events; none if the client had it before."""

    lease: ControlLease
    events: Sequence[Event]


class ControlHeldError(ConflictError):
    """Another client has the lease."""

    code = "control_held"
