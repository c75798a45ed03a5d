"""Bring stored secrets under the key that seals now, after a rotation."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from backend_api.application.settings.open_settings import bound_to
from backend_api.domain.errors import StoreUnavailableError
from backend_api.domain.settings.errors import SecretUnreadableError
from backend_api.domain.settings.ports import SecretBox, SettingsStore

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ResealSecrets:
    """Once, at a start. What can't be opened is left as it is, and told by name of the setting that is wrong."""

    store: SettingsStore
    box: SecretBox

    async def __call__(self) -> None:
        try:
            await self._reseal()
        except StoreUnavailableError as error:
            logger.warning("secrets were not looked through", extra={"reason": error.detail})

    async def _reseal(self) -> None:
        key_id, resealed, unreadable = self.box.key_id, 0, 0
        async for stored in self.store.sealed_otherwise(key_id or ""):
            for name, sealed in stored.secrets.items():
                if sealed.key_id == key_id:
                    continue
                bound = bound_to(stored.user_id, name)
                try:
                    secret = self.box.open(sealed, bound_to=bound)
                except SecretUnreadableError:
                    unreadable += 1
                    continue
                fresh = self.box.seal(secret, bound_to=bound)
                resealed += await self.store.reseal(stored.user_id, name, sealed, fresh)
        if resealed:
            logger.info("secrets were sealed under the first SECRETS_KEY", extra={"secrets": resealed})
        if unreadable:
            logger.error(
                "SECRETS_KEY does not open all keys that users stored. They are kept, and not used: put the key they "
                "were stored under behind the present one.",
                extra={"secrets": unreadable},
            )
