"""A user's settings, with their secrets decrypted."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.settings.domain.entity import StoredSettings, UserSettings
from backend_api.settings.domain.errors import SecretUnreadableError
from backend_api.settings.ports import SecretBox, SettingsStore


def bound_to(user_id: UserId, name: str) -> str:
    """The context that a secret is sealed to."""
    return f"{user_id}\n{name}"


@dataclass(frozen=True, slots=True)
class OpenSettings:
    """Read a user's settings once. Raises `StoreUnavailableError`."""

    store: SettingsStore
    box: SecretBox

    async def __call__(self, user_id: UserId) -> UserSettings:
        return self.opened(user_id, await self.store.get(user_id))

    def opened(self, user_id: UserId, stored: StoredSettings | None) -> UserSettings:
        """The settings with decrypted secrets; those that can't be decrypted are listed as `unreadable`."""
        if stored is None:
            return UserSettings(user_id=user_id)
        secrets: dict[str, str] = {}
        unreadable: set[str] = set()
        for name, sealed in stored.secrets.items():
            try:
                secrets[name] = self.box.open(sealed, bound_to=bound_to(user_id, name))
            except SecretUnreadableError:
                unreadable.add(name)
        return UserSettings(
            user_id=user_id,
            version=stored.version,
            values=stored.values,
            secrets=secrets,
            unreadable=frozenset(unreadable),
        )
