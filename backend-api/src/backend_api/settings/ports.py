"""What settings of users stand on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from backend_api.agent.catalogue import ModelCatalogue, ProviderName
from backend_api.kit.ids import UserId
from backend_api.settings.domain.entity import OwnSettings, Sealed, StoredSettings
from backend_api.settings.domain.table import KeyedSearch


class SettingsStore(Protocol):
    """The settings of each user, by their names. All raise `StoreUnavailableError`."""

    async def get(self, user_id: UserId) -> StoredSettings | None:
        """None for a user who never set any."""
        ...

    async def change(self, user_id: UserId, name: str, value: Any, *, invalidates: str = "") -> StoredSettings:
        """Set one to a value or a `Sealed` secret; None takes it back. Once it returns, every run that begins in a
        session of this user is told by its lease that there are settings (`Lease.has_settings`). Where this changes
        the value, the secret that `invalidates` names goes in the same write: nobody reads both as they never were
        together."""
        ...

    async def notify_sessions(self, user_id: UserId, version: int, model: str | None) -> None:
        """Which model the user's sessions begin with that chose none, as of this version; None: the deployment's."""
        ...

    def sealed_under_other_key(self, key_id: str) -> AsyncIterator[StoredSettings]:
        """Users with secrets that are not under this key."""
        ...

    async def reseal(self, user_id: UserId, name: str, former: Sealed, fresh: Sealed) -> bool:
        """Put one in the place of the other; False where that has changed meanwhile."""
        ...


class SecretBox(Protocol):
    """Seals secrets, so that what is stored says nothing. `bound_to` names whose and which it is: sealed text that is
    moved to another record does not open there."""

    @property
    def key_id(self) -> str | None:
        """Of the key that seals; None where there is none."""
        ...

    def seal(self, secret: str, *, bound_to: str) -> Sealed:
        """Raises `SecretsOffError` where there is no key."""
        ...

    def open(self, sealed: Sealed, *, bound_to: str) -> str:
        """Raises `SecretUnreadableError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModels:
    """Names of models, newest first; `best` is the one to begin with, None where there is none."""

    names: Sequence[str]
    best: str | None = None


class UserCatalogues(Protocol):
    """The models of each user."""

    def of(self, own: OwnSettings) -> AbstractAsyncContextManager[ModelCatalogue]:
        """The user's models for the length of a block; those of their own keys are asked with these."""
        ...

    def trial(self, own: OwnSettings) -> AbstractAsyncContextManager[ModelCatalogue]:
        """Models of settings that are tried out: nothing of them is kept."""
        ...

    async def listed(self, own: OwnSettings, provider: ProviderName) -> ListedModels:
        """The models that this provider lists for the user's key. Raises `ModelError`, without the key."""
        ...

    def deployment_roles(self, own: OwnSettings) -> Mapping[str, str]:
        """By the names of their settings the deployment's models for single tasks, as far as they are asked for this
        user where the user names none."""
        ...

    async def check(self, own: OwnSettings) -> None:
        """Raises `InvalidError` where these settings can't be used together."""
        ...


SearchOutcome = Literal["ok", "wrong_key", "limit", "unreachable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTrialResult:
    """`detail` says what is wrong, without the key; empty where nothing is."""

    outcome: SearchOutcome
    detail: str = ""


class SearchKeyTrials(Protocol):
    """Search of the web by keys that are tried out."""

    async def __call__(self, provider: KeyedSearch, key: str) -> SearchTrialResult:
        """With one small search, within seconds; nothing is kept."""
        ...
