"""Re-encrypting stored secrets under the current key, after a rotation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from backend_api.settings.application.open_settings import bound_to
from backend_api.settings.application.resealing import ResealingMessages, SealedRecord, reseal
from backend_api.settings.ports import SecretBox, SettingsStore

MESSAGES = ResealingMessages(
    store_away="secrets were not checked",
    resealed="secrets were re-encrypted with the first SECRETS_KEY",
    unreadable=(
        "SECRETS_KEY does not decrypt all keys that users stored. They are kept, and not used: add the key they were "
        "stored with after the current one."
    ),
)


@dataclass(frozen=True, slots=True)
class ResealSecrets:
    """Runs `reseal` on all stored secrets."""

    store: SettingsStore
    box: SecretBox

    async def __call__(self) -> None:
        await reseal(self._records(), self.box, MESSAGES)

    async def _records(self) -> AsyncIterator[SealedRecord]:
        async for stored in self.store.sealed_under_other_key(self.box.key_id or ""):
            for name, sealed in stored.secrets.items():
                if sealed.key_id != self.box.key_id:
                    put = partial(self.store.reseal, stored.user_id, name, sealed)
                    yield SealedRecord(sealed, bound_to(stored.user_id, name), put)
