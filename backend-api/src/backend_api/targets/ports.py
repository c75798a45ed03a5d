"""Ports that targets need."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.choices import SandboxConfiguration
from backend_api.settings.domain.entity import Sealed
from backend_api.targets.domain import KeyPair, SandboxTarget, Target, TargetId, Trial


class Targets(Protocol):
    """The targets of all users. All raise `StoreUnavailableError`."""

    async def add(self, target: Target | SandboxTarget, *, at_most: int) -> None:
        """Store a new target. Raises `TargetQuotaError`."""
        ...

    async def of(self, user_id: UserId) -> Sequence[Target | SandboxTarget]:
        """The user's targets by name."""
        ...

    async def get(self, target_id: TargetId, user_id: UserId) -> Target | SandboxTarget:
        """Raises `TargetNotFoundError`."""
        ...

    async def put(self, target: Target | SandboxTarget) -> None:
        """Replace the version before. Raises `TargetChangedError`, `TargetNotFoundError`."""
        ...

    async def delete(self, target_id: TargetId, user_id: UserId) -> None:
        """Raises `TargetNotFoundError`."""
        ...


class TargetsOfSessions(Protocol):
    """The target of each session. Raises `StoreUnavailableError`."""

    async def id_of(self, session_id: str) -> TargetId | None:
        """The target's id; None for the usual computer. It never changes."""
        ...

    async def of_session(self, session_id: str) -> Target | None:
        """The remote host; None if there is none or it was deleted."""
        ...

    async def configuration_of(self, session_id: str) -> SandboxConfiguration:
        """The image and size of its sandbox; the default if that is chosen, or if the chosen one was deleted."""
        ...


class SealedTargets(Protocol):
    """Private keys at rest."""

    def sealed_under_other_key(self, key_id: str) -> AsyncIterator[Target]:
        """Targets whose private key is not sealed under this one."""
        ...

    async def reseal(self, target: Target, fresh: Sealed) -> bool:
        """Replace the target's sealed key by this one; False if it has changed meanwhile."""
        ...


class SshKeys(Protocol):
    """Keys of users."""

    def generate(self, comment: str) -> KeyPair:
        """Generate a key pair."""
        ...

    def read(self, private: str, passphrase: str | None) -> KeyPair:
        """Read a key that a user pasted; the result has no passphrase. Raises `InvalidError`, without the key."""
        ...


class TryHost(Protocol):
    """Tests a host."""

    async def __call__(self, target: Target, private_key: str | None) -> Trial:
        """Test within seconds; nothing is changed on the host but that its working folder is created. Raises
        nothing."""
        ...
