"""Settings of users in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from backend_api.kit.ids import UserId
from backend_api.settings.domain.entity import Sealed, StoredSettings
from support.memory.store import MemoryStore


class MemorySettingsStore:
    """`SettingsStore` on a `MemoryStore`, whose ledger reads it directly."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def get(self, user_id: UserId) -> StoredSettings | None:
        return self._store.settings.get(user_id)

    async def change(self, user_id: UserId, name: str, value: Any, *, invalidates: str = "") -> StoredSettings:
        present = self._store.settings.get(user_id) or StoredSettings(user_id=user_id, version=1)
        values = {key: one for key, one in present.values.items() if key != name}
        gone = {name} if value == present.values.get(name) else {name, invalidates}
        secrets = {key: one for key, one in present.secrets.items() if key not in gone}
        if isinstance(value, Sealed):
            secrets[name] = value
        elif value is not None:
            values[name] = value
        changed = replace(present, version=present.version + 1, values=values, secrets=secrets)
        self._store.settings[user_id] = changed
        return changed

    async def notify_sessions(self, user_id: UserId, version: int, model: str | None) -> None:
        told, _ = self._store.settings_models.get(user_id, (0, None))
        if told < version:
            self._store.settings_models[user_id] = (version, model)

    async def sealed_under_other_key(self, key_id: str) -> AsyncIterator[StoredSettings]:
        for stored in list(self._store.settings.values()):
            if any(sealed.key_id != key_id for sealed in stored.secrets.values()):
                yield stored

    async def reseal(self, user_id: UserId, name: str, former: Sealed, fresh: Sealed) -> bool:
        stored = self._store.settings.get(user_id)
        if stored is None or stored.secrets.get(name) != former:
            return False
        self._store.settings[user_id] = replace(stored, secrets={**stored.secrets, name: fresh})
        return True
