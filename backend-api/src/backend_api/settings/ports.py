"""Ports that users' settings need."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from backend_api.agent.catalogue import ModelCatalogue, ProviderName
from backend_api.kit.ids import UserId
from backend_api.settings.domain.entity import Sealed, StoredSettings, UserSettings
from backend_api.settings.domain.table import KeyedSearch


class SettingsStore(Protocol):
    """The settings of each user, by their names. All raise `StoreUnavailableError`."""

    async def get(self, user_id: UserId) -> StoredSettings | None:
        """The stored settings; None for a user who never set any."""
        ...

    async def change(self, user_id: UserId, name: str, value: Any, *, invalidates: str = "") -> StoredSettings:
        """Set one to a value or a `Sealed` secret; None unsets it. Once it returns, the lease of every run that begins
        in a session of this user shows that there are settings (`Lease.has_settings`). If this changes the value, the
        secret that `invalidates` names is removed in the same write: nobody reads a new value with the old secret."""
        ...

    async def notify_sessions(self, user_id: UserId, version: int, model: str | None) -> None:
        """Store the default model of the user's sessions as of this version; None: the deployment's."""
        ...

    def sealed_under_other_key(self, key_id: str) -> AsyncIterator[StoredSettings]:
        """Users with secrets that are not under this key."""
        ...

    async def reseal(self, user_id: UserId, name: str, former: Sealed, fresh: Sealed) -> bool:
        """Replace one by the other; False if it has changed meanwhile."""
        ...


class SecretBox(Protocol):
    """Encrypts secrets at rest. `bound_to` names the user and the setting: sealed text that is moved to another record
    can't be opened there."""

    @property
    def key_id(self) -> str | None:
        """The id of the key that seals; None if there is no key."""
        ...

    def seal(self, secret: str, *, bound_to: str) -> Sealed:
        """Encrypt a secret. Raises `SecretsOffError` if there is no key."""
        ...

    def open(self, sealed: Sealed, *, bound_to: str) -> str:
        """Decrypt a secret. Raises `SecretUnreadableError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModels:
    """Names of models, newest first; `best` is the recommended first choice, None if there is none."""

    names: Sequence[str]
    best: str | None = None


class UserCatalogues(Protocol):
    """The models of each user."""

    def of(self, own: UserSettings) -> AbstractAsyncContextManager[ModelCatalogue]:
        """The user's models for the length of a block; models of the user's own keys are called with these."""
        ...

    def trial(self, own: UserSettings) -> AbstractAsyncContextManager[ModelCatalogue]:
        """The models under settings that are being tested; nothing of them is kept."""
        ...

    async def listed(self, own: UserSettings, provider: ProviderName) -> ListedModels:
        """The models that this provider lists for the user's key. Raises `ModelError`, without the key."""
        ...

    def deployment_roles(self, own: UserSettings) -> Mapping[str, str]:
        """The deployment's models for single tasks by the names of their settings, as far as they are used for this
        user if the user names none."""
        ...

    async def check(self, own: UserSettings) -> None:
        """Raises `InvalidError` if these settings can't be used together."""
        ...


SearchOutcome = Literal["ok", "wrong_key", "limit", "unreachable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTrialResult:
    """`detail` describes the error, without the key; empty if there is none."""

    outcome: SearchOutcome
    detail: str = ""


class SearchKeyTrials(Protocol):
    """Tests of search providers' keys."""

    async def __call__(self, provider: KeyedSearch, key: str) -> SearchTrialResult:
        """Test with one small search, within seconds; nothing is stored."""
        ...
