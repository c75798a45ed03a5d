"""The states of a sandbox, and the moves between them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Status(StrEnum):
    """Status of a sandbox. A queued one waits for room, a paused one is frozen until it is used.

    Those of the pool belong to nobody yet: a warming one is being booted, a warm one is at rest until it is claimed.
    """

    WARMING = "warming"
    WARM = "warm"
    QUEUED = "queued"
    STARTING = "starting"
    READY = "ready"
    PAUSED = "paused"
    FAILED = "failed"
    GONE = "gone"


class Move(StrEnum):
    """The events that change a sandbox's status."""

    BOOT = "boot"
    CLAIM = "claim"
    ADMIT = "admit"
    MAKE_READY = "make_ready"
    PAUSE = "pause"
    RESUME = "resume"
    FAIL = "fail"
    RETIRE = "retire"


ALIVE = frozenset(Status) - {Status.FAILED, Status.GONE}

LIFE: Mapping[Move, tuple[frozenset[Status], Status]] = {
    Move.BOOT: (frozenset({Status.WARMING}), Status.WARM),
    Move.CLAIM: (frozenset({Status.WARM}), Status.STARTING),
    Move.ADMIT: (frozenset({Status.QUEUED}), Status.STARTING),
    Move.MAKE_READY: (frozenset({Status.STARTING}), Status.READY),
    Move.PAUSE: (frozenset({Status.READY}), Status.PAUSED),
    Move.RESUME: (frozenset({Status.PAUSED}), Status.READY),
    Move.FAIL: (frozenset({Status.QUEUED, Status.STARTING}), Status.FAILED),
    Move.RETIRE: (ALIVE, Status.GONE),
}
"""A sandbox's life: the states from which each move leads, and the state it leads to."""
