"""What targets need of the outside."""

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
        """Raises `TargetQuotaError`."""
        ...

    async def of(self, user_id: UserId) -> Sequence[Target | SandboxTarget]:
        """By name."""
        ...

    async def get(self, target_id: TargetId, user_id: UserId) -> Target | SandboxTarget:
        """Raises `TargetNotFoundError`."""
        ...

    async def put(self, target: Target | SandboxTarget) -> None:
        """In the place of the version before. Raises `TargetChangedError`, `TargetNotFoundError`."""
        ...

    async def delete(self, target_id: TargetId, user_id: UserId) -> None:
        """Raises `TargetNotFoundError`."""
        ...


class TargetsOfSessions(Protocol):
    """Which target a session has. Raises `StoreUnavailableError`."""

    async def id_of(self, session_id: str) -> TargetId | None:
        """None for the usual computer; it never changes."""
        ...

    async def of_session(self, session_id: str) -> Target | None:
        """The remote host; None where it was deleted, too."""
        ...

    async def configuration_of(self, session_id: str) -> SandboxConfiguration:
        """Of its sandbox; the usual one where that is chosen, or what was chosen was deleted."""
        ...


class SealedTargets(Protocol):
    """Private keys at rest."""

    def sealed_under_other_key(self, key_id: str) -> AsyncIterator[Target]:
        """Targets whose key is not under this one."""
        ...

    async def reseal(self, target: Target, fresh: Sealed) -> bool:
        """Put this one in the place of the target's; False where it has changed meanwhile."""
        ...


class SshKeys(Protocol):
    """Keys of users."""

    def generate(self, comment: str) -> KeyPair:
        """A new one."""
        ...

    def read(self, private: str, passphrase: str | None) -> KeyPair:
        """The one that a user pasted, without its passphrase. Raises `InvalidError`, without the key."""
        ...


class TryHost(Protocol):
    """Tries a host out."""

    async def __call__(self, target: Target, private_key: str | None) -> Trial:
        """Within seconds; nothing is changed there but that its working folder is made. Raises nothing."""
        ...
