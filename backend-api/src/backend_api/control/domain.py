"""Control of a session's computer: one lease, which its client renews while a person is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend_api.agent.events import Event
from backend_api.kit.errors import ConflictError

LEASE_S = 7.0
"""A client that is not heard for so long has lost control, which is noticed before ten seconds are over."""
MAX_NOTE_CHARACTERS = 4_000
QUESTION = "control:taken"
"""The id of what `ask_to_drive` asks, which no question of `ask_user` can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlLease:
    """`holder` is who controls the computer, in words; `client` is the window or program that renews the lease."""

    holder: str
    client: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Taken:
    """The lease after it was taken, and the events that tell of it; none where the client had it before."""

    lease: ControlLease
    events: Sequence[Event]


class ControlHeldError(ConflictError):
    """Another client has the lease."""

    code = "control_held"
