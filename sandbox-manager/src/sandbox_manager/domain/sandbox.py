"""One sandbox of one session, and the moves its record may make."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from sandbox_manager.domain.configuration import STANDARD, Configuration
from sandbox_manager.domain.disk import Fill
from sandbox_manager.domain.identifiers import (
    InvalidIdentifierError,
    parse_generation,
    parse_sandbox_id,
    parse_session_id,
    parse_user_id,
    pool_session,
)
from sandbox_manager.domain.life import ALIVE, LIFE, Move, Status

__all__ = ["ANY_PLACE", "LONG_AGO", "Cleanup", "Identity", "Sandbox", "Started", "Status", "pool_session"]

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
ANY_PLACE = "*"


class Cleanup(StrEnum):
    """Remains that must still be removed from the machine."""

    NONE = "none"
    KEEP_WORKSPACE = "keep_workspace"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The part of a sandbox that never changes; the labels of what runs carry exactly this.

    A sandbox of the pool has the session that stands for its own id, no user, and generation 0. Raises
    `InvalidIdentifierError` for an impossible identity, wherever it was read.
    """

    sandbox_id: str
    session_id: str
    user_id: str
    generation: int

    def __post_init__(self) -> None:
        parse_sandbox_id(self.sandbox_id)
        if self.session_id == pool_session(self.sandbox_id):
            if (self.user_id, self.generation) != ("", 0):
                raise InvalidIdentifierError("Nobody's sandbox has no user and no generation.", field="user_id")
            return
        if parse_session_id(self.session_id).startswith("pool."):
            raise InvalidIdentifierError("This stands for the session of another sandbox.", field="session_id")
        parse_user_id(self.user_id)
        if parse_generation(self.generation) == 0:
            raise InvalidIdentifierError("A claimed sandbox has a generation.", field="generation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The runtime's answer once a sandbox is ready."""

    endpoint: str
    has_desktop: bool
    has_network: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """The record of a sandbox.

    `occupied` holds the session's single place: from creation until nothing of it is left on the machine, so that a
    rebuilt sandbox can't meet the remains of the old one. `version` grows with every stored change, `revision` with
    every one a person may want to see. `place` names the engine or the data folder it runs at; before it ran it is
    empty, or where the session's files are. `waking_since` is the time since which a paused one is to be woken. The
    manager that works on it (starts, pauses, resumes or removes it) holds its lease. `notice` announces a near end;
    `asked_at` is the time when somebody last waited for a queued one. `fingerprint` identifies the image and settings
    of one of the pool; a sandbox claimed from there has its `endpoint` before it is ready. `disk_notice`, shown since
    `disk_revision`, warns that its files nearly reach their limit, `disk_limit_mb`. `configuration` is its image and
    size, as chosen.
    """

    identity: Identity
    runtime: str
    status: Status
    created_at: datetime
    expires_at: datetime
    idle_expires_at: datetime
    lease_owner: str = ""
    lease_until: datetime = LONG_AGO
    place: str = ""
    occupied: bool = True
    cleanup: Cleanup = Cleanup.NONE
    reason: str | None = None
    retryable: bool = False
    has_desktop: bool = True
    has_network: bool = True
    endpoint: str | None = None
    settled_at: datetime | None = None
    notice: str | None = None
    fill: Fill = Fill.FINE
    disk_notice: str | None = None
    disk_revision: int = 0
    disk_limit_mb: int = 0
    asked_at: datetime | None = None
    fingerprint: str | None = None
    waking_since: datetime | None = None
    configuration: Configuration = STANDARD
    revision: int = 1
    version: int = 1

    @property
    def id(self) -> str:
        return self.identity.sandbox_id

    @property
    def places(self) -> int:
        """The number of sandboxes it counts as."""
        return self.configuration.places

    @property
    def is_alive(self) -> bool:
        return self.status in ALIVE

    @property
    def is_pooled(self) -> bool:
        """Whether it is unclaimed, or was over before it was claimed."""
        return self.identity.session_id == pool_session(self.id)

    @property
    def is_waiting(self) -> bool:
        """Whether it stands in line: for room to start, or to be woken."""
        return self.status is Status.QUEUED or (self.status is Status.PAUSED and self.waking_since is not None)

    @property
    def was_never_there(self) -> bool:
        """Whether it was given up before it was ready, so that it was never more than a request."""
        return self.status is Status.GONE and self.endpoint is None

    @property
    def shown(self) -> Status:
        """The status that users see."""
        return Status.QUEUED if self.is_waiting else self.status

    @property
    def is_running(self) -> bool:
        """Whether it takes up one of its user's places."""
        return self.occupied and self.status in (Status.STARTING, Status.READY)

    @property
    def holds_memory(self) -> bool:
        """Whether it takes up a place of the deployment, as do remains that are not removed yet."""
        return self.occupied and self.status is not Status.QUEUED

    @property
    def ends_at(self) -> datetime:
        """The time when it ends unless it is used."""
        return min(self.expires_at, self.idle_expires_at)

    def may(self, move: Move) -> bool:
        """Whether the move is possible in its present state."""
        return self.status in LIFE[move][0]

    def _moved(self, move: Move, **changes: Any) -> Sandbox | None:
        """The next state, which a person may see; None if the move is not possible now."""
        if not self.may(move):
            return None
        return replace(self, status=LIFE[move][1], revision=self.revision + 1, **changes)

    def admitted(self, owner: str, until: datetime, runtime: str, place: str) -> Sandbox | None:
        """There is room: `owner` starts it. None when it no longer waits."""
        return self._moved(Move.ADMIT, lease_owner=owner, lease_until=until, runtime=runtime, place=place)

    def waited_for(self, now: datetime) -> Sandbox | None:
        """Somebody still waits. None when it does not stand in line."""
        return replace(self, asked_at=now) if self.is_waiting else None

    def with_wake_request(self, now: datetime, *, since: datetime) -> Sandbox | None:
        """A paused one is used again: it is woken as soon as there is room, and stands in line from `since` on if it
        did not yet. None when it is not paused."""
        if self.status is not Status.PAUSED:
            return None
        return replace(self, waking_since=self.waking_since or since, asked_at=now, reason=None)

    def left_paused(self, reason: str | None = None) -> Sandbox | None:
        """Let it stay paused, with nobody waiting for it any more. None if nobody did, or it is not paused."""
        if self.status is not Status.PAUSED or self.waking_since is None:
            return None
        return replace(self, waking_since=None, asked_at=None, reason=reason, revision=self.revision + 1)

    def as_ready(self, started: Started, owner: str) -> Sandbox | None:
        """Mark it ready. None if it was given up in the meantime, or another owner works on it."""
        if self.lease_owner != owner:
            return None
        return self._moved(
            Move.MAKE_READY,
            endpoint=started.endpoint,
            has_desktop=started.has_desktop,
            has_network=started.has_network,
        )

    def as_warm(self, started: Started, owner: str) -> Sandbox | None:
        """Booted and at rest. None when it was given up in the meantime, or another owner works on it."""
        if not self.may(Move.BOOT) or self.lease_owner != owner:
            return None
        return replace(
            self,
            status=LIFE[Move.BOOT][1],
            endpoint=started.endpoint,
            has_desktop=started.has_desktop,
            has_network=started.has_network,
        )

    def can_be_claimed(self, place: str, fingerprint: str, now: datetime) -> bool:
        """Whether it is warm, of that place and fingerprint, and nobody works on it."""
        is_warm = self.may(Move.CLAIM) and self.lease_until <= now < self.expires_at
        return is_warm and (self.place, self.fingerprint) == (place, fingerprint)

    def claimed(self, wanted: Sandbox, owner: str, until: datetime) -> Sandbox:
        """The record `wanted` by a session, bound to this sandbox: from here on it starts, by `owner`, and is never
        anybody else's."""
        return replace(
            wanted,
            identity=replace(wanted.identity, sandbox_id=self.id),
            status=LIFE[Move.CLAIM][1],
            runtime=self.runtime,
            place=self.place,
            lease_owner=owner,
            lease_until=until,
            has_desktop=self.has_desktop,
            has_network=self.has_network,
            endpoint=self.endpoint,
            fingerprint=self.fingerprint,
            revision=self.revision + 1,
            version=self.version,
        )

    def failed(self, reason: str, *, retryable: bool) -> Sandbox | None:
        """Mark it failed. None if it is neither queued nor starting."""
        return self._moved(
            Move.FAIL,
            notice=None,
            reason=reason,
            retryable=retryable,
            cleanup=Cleanup.KEEP_WORKSPACE,
        )

    def retired(self, reason: str, cleanup: Cleanup, *, retryable: bool = True) -> Sandbox | None:
        """Give it up; a wish to remove everything is never taken back. None when there is nothing to change."""
        if not self.occupied:
            return None
        if not self.is_alive:
            widened = cleanup is Cleanup.ALL and self.cleanup is not Cleanup.ALL
            return replace(self, cleanup=Cleanup.ALL) if widened else None
        return self._moved(
            Move.RETIRE,
            notice=None,
            reason=reason,
            retryable=retryable,
            cleanup=Cleanup.ALL if self.is_pooled else cleanup,
        )

    def paused(self, now: datetime, keep: timedelta) -> Sandbox | None:
        """Frozen, to be removed after `keep` unless it is used. None when it is not ready."""
        return self._moved(Move.PAUSE, notice=None, idle_expires_at=min(now + keep, self.expires_at))

    def resumed(self, now: datetime, idle: timedelta) -> Sandbox | None:
        """Used again. None when it is not paused."""
        return self._moved(
            Move.RESUME,
            notice=None,
            idle_expires_at=min(now + idle, self.expires_at),
            waking_since=None,
            asked_at=None,
            reason=None,
        )

    def warned(self, notice: str) -> Sandbox | None:
        """Record the notice of a near end, once. None if it is recorded, or the sandbox is over already."""
        if not self.is_alive or self.notice is not None:
            return None
        return replace(self, notice=notice, revision=self.revision + 1)

    def filled(self, fill: Fill, notice: str | None, limit_mb: int) -> Sandbox | None:
        """Record a new fill level: a rise comes with a notice, a fall without. None if nothing changed, or it is
        over."""
        if fill is self.fill or not self.is_alive:
            return None
        if fill < self.fill:
            return replace(self, fill=fill, disk_notice=None)
        revision = self.revision + 1
        changed = replace(self, disk_notice=notice, disk_limit_mb=limit_mb, disk_revision=revision)
        return replace(changed, fill=fill, revision=revision)

    def settled(self, cleaned: Cleanup, now: datetime) -> Sandbox | None:
        """Record that nothing of it is left on the machine. None if more must be removed than `cleaned`."""
        if not self.occupied or self.is_alive or (self.cleanup is Cleanup.ALL and cleaned is not Cleanup.ALL):
            return None
        return replace(self, occupied=False, cleanup=Cleanup.NONE, settled_at=now)

    def renewed(self, active_at: datetime, idle: timedelta) -> Sandbox | None:
        """Move its idle end, never over the hard one, and take back a notice of it. None if it does not run."""
        if self.status not in (Status.STARTING, Status.READY):
            return None
        end = max(self.idle_expires_at, min(active_at + idle, self.expires_at))
        if self.notice is None or end == self.idle_expires_at or end == self.expires_at:
            return replace(self, idle_expires_at=end)
        return replace(self, idle_expires_at=end, notice=None, revision=self.revision + 1)
