"""Ports of the sandbox use cases."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sandbox_manager.domain.configuration import STANDARD, Configuration
from sandbox_manager.domain.sandbox import Identity, Sandbox, Started

_MOST_UNUSED_S = 1e9
_MOST_HELD = 2**60


class Clock(Protocol):
    def now(self) -> datetime:
        """The present in UTC, cut to milliseconds as the registry stores it."""
        ...


class SandboxRecords(Protocol):
    """Records of sandboxes. Every call may raise `RegistryUnavailableError`."""

    async def add(self, sandbox: Sandbox) -> bool:
        """Store a new record. False when the session's place or its generation is taken."""
        ...

    async def get(self, sandbox_id: str) -> Sandbox | None: ...

    async def find(
        self, *, user_id: str | None = None, session_id: str | None = None, occupied: bool | None = None
    ) -> list[Sandbox]:
        """Records that match all that is given, newest first."""
        ...

    async def save(self, sandbox: Sandbox) -> bool:
        """Store a changed record with its version plus one. False when somebody else changed it first."""
        ...

    async def admit(self, decide: Callable[[list[Sandbox], datetime], list[Sandbox]]) -> list[Sandbox]:
        """Pass `decide` all records that occupy a place, oldest first, and the present by the database's clock, while
        no other manager can admit; store the changed records it returns and return them as stored. A new record among
        them is added; if its session's place is taken meanwhile, nothing is stored and nothing returned."""
        ...


class SandboxLeases(Protocol):
    """Leases of sandboxes: one manager works on a sandbox at a time. Every call may raise
    `RegistryUnavailableError`."""

    async def acquire_lease(self, sandbox_id: str, owner: str, ttl: timedelta) -> Sandbox | None:
        """Lease a record to `owner`, or lengthen its lease; the database's clock decides what has lapsed.

        Returns the record, None if somebody else holds it or there is none. A record that changes hands gets a new
        version, so that its former owner can't store older data any more.
        """
        ...

    async def release_lease(self, sandbox_id: str, owner: str) -> None:
        """Give a lease back; does nothing if it is not the owner's."""
        ...


class SandboxChanges(Protocol):
    """Changes of sandboxes, whichever manager makes them."""

    def changes(self, after: str | None) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        """Changes a person may want to see, from now or after a mark, from any manager; entering subscribes.

        Raises `MarkLostError` if changes after the mark are no longer known.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A record as it was stored, and the mark to go on after."""

    mark: str
    sandbox: Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLease:
    """A named lease, and the time until which it holds, or held."""

    name: str
    owner: str
    until: datetime


class Leases(Protocol):
    """Named leases over all managers, by the database's clock."""

    async def acquire(self, name: str, owner: str, ttl: timedelta) -> bool:
        """Acquire or extend a lease. False when another owner holds it."""
        ...

    async def release(self, name: str, owner: str) -> None: ...

    async def known(self, prefix: str) -> list[HeldLease]:
        """Leases whose name has this prefix, including those that lapsed not long ago."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """The sandbox to start. `public_key` is the PEM the endpoint verifies tokens with."""

    identity: Identity
    public_key: str
    configuration: Configuration = STANDARD


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A sandbox of this stack as the runtime finds it on the machine; `reason` says why it does not run.

    `identity` is the one it was started with; a paused one counts as running.
    """

    identity: Identity
    running: bool
    paused: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Resource usage of a sandbox; None where the machine can't tell. `cpu_s` is since its start."""

    cpu_s: float | None
    memory_bytes: int | None
    memory_limit_bytes: int
    pids: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A sandbox's report on itself: how long it is unused, the size of its workspace, if known, and whether it is
    unclaimed with its desktop at rest.

    Code in it may make it lie, and affects nothing but its own clock. Raises `ValueError` for impossible values.
    """

    unused_s: float
    disk_bytes: int | None = None
    disk_files: int | None = None
    resting: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.unused_s <= _MOST_UNUSED_S:  # false for NaN, too
            raise ValueError("nothing is unused for so long")
        for held in (self.disk_bytes, self.disk_files):
            if held is not None and not 0 <= held <= _MOST_HELD:
                raise ValueError("nothing holds so much")


class RuntimeHost(Protocol):
    """The host of sandboxes."""

    @property
    def name(self) -> str: ...

    async def place(self) -> str:
        """Name of the engine or data folder sandboxes run at: the same for all managers that share it, and for no
        others. Raises `EngineUnavailableError`."""
        ...

    async def check(self) -> None:
        """Raise `EngineUnavailableError` with the remedy if no sandbox could be started."""
        ...

    async def image_trouble(self, image: str) -> str | None:
        """The reason why no sandbox can be made from this image, and the remedy; None if one can.

        Raises `EngineUnavailableError`.
        """
        ...

    async def fingerprint(self) -> str:
        """Identifies what sandboxes are made of: it differs once the image or a setting has changed.

        Raises `EngineUnavailableError`.
        """
        ...


class SandboxLifecycle(Protocol):
    """Start, pause and removal of sandboxes. Sandboxes of other stacks are never seen nor touched."""

    async def start_sandbox(self, spec: SandboxSpec) -> Started:
        """Start a sandbox and return when its endpoint is ready; the caller sets the deadline.

        Raises `StartFailedError` or `EngineUnavailableError`. When it raises or is cancelled, whatever it made carries
        the identity, is complete in `found`, and is the caller's to remove.
        """
        ...

    async def found(self) -> list[Found]:
        """Everything on the machine for this stack, whole or in part. Raises `EngineUnavailableError`."""
        ...

    async def pause(self, identity: Identity) -> None:
        """Freeze all processes of a running sandbox; does nothing if they are. On failure none is frozen.

        Raises `EngineUnavailableError`, also when it does not run.
        """
        ...

    async def resume(self, identity: Identity) -> None:
        """Let a paused sandbox go on; does nothing if it runs. Raises `EngineUnavailableError`, also if it is dead."""
        ...

    async def assign_workspace(self, identity: Identity) -> None:
        """Make the workspace of a pooled sandbox that of the session it was claimed for.

        Raises `WorkspaceExistsError` when the session has one, `EngineUnavailableError`.
        """
        ...

    async def remove(self, identity: Identity, *, keep_workspace: bool) -> None:
        """Remove all of a sandbox, whatever its state, also what does not exist. Raises `EngineUnavailableError`.

        The workspace of an unclaimed sandbox is never kept.
        """
        ...


class SandboxMonitor(Protocol):
    """The state that running sandboxes report, and their ends."""

    async def keep_alive(self, identity: Identity, endpoint: str, token: str) -> Report:
        """Renew the watchdog of a running sandbox, and read its report.

        Raises `EngineUnavailableError` when it does not answer.
        """
        ...

    async def usage(self, identity: Identity) -> Usage | None:
        """Resource usage of a sandbox now, None if it does not run. Raises `EngineUnavailableError`."""
        ...

    def endings(self) -> AsyncGenerator[str]:
        """Ids of sandboxes that end, as it happens. Best effort: may miss some, and end at any time."""
        ...


class TokenKeys(Protocol):
    """The key pair that endpoint tokens are signed with."""

    @property
    def public_key(self) -> str:
        """The public key as PEM."""
        ...

    def sign(
        self,
        identity: Identity,
        scopes: list[str],
        now: datetime,
        expires_at: datetime,
        *,
        claim_until: datetime | None = None,
    ) -> str:
        """A token for one generation of one sandbox; with `claim_until`, it claims a pooled one until then."""
        ...
