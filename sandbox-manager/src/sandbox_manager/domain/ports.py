"""What keeping sandboxes needs from outside."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sandbox_manager.domain.sandbox import Identity, Sandbox, Started


class Clock(Protocol):
    def now(self) -> datetime:
        """The present in UTC, cut to milliseconds as the registry stores it."""
        ...


class SandboxRegistry(Protocol):
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

    async def check(self) -> None:
        """Raise `RegistryUnavailableError` when the registry does not answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """What to start. `public_key` is the PEM the door verifies tokens with."""

    identity: Identity
    public_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a runtime has on the machine for one sandbox of this stack; `reason` says why it does not run."""

    identity: Identity
    running: bool
    reason: str | None = None


class Runtime(Protocol):
    """Where sandboxes run. Things of other stacks on the same machine are never seen and never touched."""

    @property
    def name(self) -> str: ...

    async def check(self) -> None:
        """Raise `EngineUnavailableError` with what a person can do when no sandbox could be started."""
        ...

    async def start(self, spec: SandboxSpec) -> Started:
        """Start a sandbox and answer when its door says it is ready; the caller sets the deadline.

        Raises `StartFailedError` or `EngineUnavailableError`. When it raises or is cancelled, whatever it made carries
        the identity, is complete in `found`, and is the caller's to remove.
        """
        ...

    async def found(self) -> list[Found]:
        """All there is for this stack, whole or in part. Raises `EngineUnavailableError`."""
        ...

    async def remove(self, identity: Identity, *, keep_workspace: bool) -> None:
        """Remove all of a sandbox, whatever its state, also what does not exist. Raises `EngineUnavailableError`."""
        ...


class DoorKeys(Protocol):
    """The key pair the doors' tokens are signed with."""

    @property
    def public_key(self) -> str:
        """PEM."""
        ...

    def sign(self, identity: Identity, scopes: list[str], now: datetime, expires_at: datetime) -> str:
        """A door token for one generation of one sandbox."""
        ...
