"""One sandbox of one session, and the moves its record may make."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum


class Status(StrEnum):
    """Life of a sandbox."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    GONE = "gone"


class Cleanup(StrEnum):
    """What is still to be removed from the machine."""

    NONE = "none"
    KEEP_WORKSPACE = "keep_workspace"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What never changes about a sandbox; the labels of what runs carry exactly this."""

    sandbox_id: str
    session_id: str
    user_id: str
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What a runtime answers once a sandbox is ready."""

    door: str
    has_desktop: bool
    has_network: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """The record of a sandbox.

    `occupied` holds the session's single place: from creation until nothing of it is left on the machine, so that a
    rebuilt sandbox can't meet the remains of the old one. `version` grows with every stored change.
    """

    identity: Identity
    runtime: str
    status: Status
    created_at: datetime
    expires_at: datetime
    idle_expires_at: datetime
    lease_owner: str
    lease_until: datetime
    occupied: bool = True
    cleanup: Cleanup = Cleanup.NONE
    reason: str | None = None
    retryable: bool = False
    has_desktop: bool = True
    has_network: bool = True
    door: str | None = None
    settled_at: datetime | None = None
    version: int = 1

    @property
    def id(self) -> str:
        return self.identity.sandbox_id

    @property
    def lives(self) -> bool:
        return self.status in (Status.STARTING, Status.READY)

    def made_ready(self, started: Started) -> Sandbox | None:
        """None when it was given up in the meantime."""
        if self.status is not Status.STARTING:
            return None
        return replace(
            self,
            status=Status.READY,
            door=started.door,
            has_desktop=started.has_desktop,
            has_network=started.has_network,
        )

    def failed(self, reason: str, *, retryable: bool) -> Sandbox | None:
        """None when it is no longer starting."""
        if self.status is not Status.STARTING:
            return None
        return replace(
            self,
            status=Status.FAILED,
            reason=reason,
            retryable=retryable,
            cleanup=Cleanup.KEEP_WORKSPACE,
        )

    def retired(self, reason: str, cleanup: Cleanup, *, retryable: bool = True) -> Sandbox | None:
        """Give it up; a wish to remove everything is never taken back. None when there is nothing to change."""
        if not self.occupied:
            return None
        if not self.lives:
            widened = cleanup is Cleanup.ALL and self.cleanup is not Cleanup.ALL
            return replace(self, cleanup=Cleanup.ALL) if widened else None
        return replace(self, status=Status.GONE, reason=reason, retryable=retryable, cleanup=cleanup)

    def settled(self, cleaned: Cleanup, now: datetime) -> Sandbox | None:
        """Nothing is left of it on the machine. None when more was asked for than `cleaned`."""
        if not self.occupied or self.lives or (self.cleanup is Cleanup.ALL and cleaned is not Cleanup.ALL):
            return None
        return replace(self, occupied=False, cleanup=Cleanup.NONE, settled_at=now)

    def renewed(self, now: datetime, idle: timedelta) -> Sandbox | None:
        """Idle end moved, never over the hard one. None when it no longer lives."""
        if not self.lives:
            return None
        return replace(self, idle_expires_at=max(self.idle_expires_at, min(now + idle, self.expires_at)))

    def leased(self, owner: str, until: datetime) -> Sandbox | None:
        """The starting manager is alive. None when it is not its own or no longer starting."""
        if self.status is not Status.STARTING or self.lease_owner != owner:
            return None
        return replace(self, lease_until=until)
