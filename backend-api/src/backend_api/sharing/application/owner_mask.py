"""Masking of secrets in everything that leaves the account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend_api.kit.ids import UserId
from backend_api.kit.masking import Mask
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.domain.entity import UserSettings


@dataclass(frozen=True, slots=True)
class Hiding:
    """Masks secrets of the deployment, those of one user, and whatever looks like a secret."""

    of_deployment: Mask
    of_owner: Mask

    def text(self, text: str) -> str:
        return self.of_owner.known(self.of_deployment.text(text))

    def value(self, value: Any) -> Any:
        """Mask all texts in a JSON value."""
        return self.of_owner.value(self.of_deployment.value(value))


@dataclass(frozen=True, slots=True)
class OwnerMask:
    """Returns the mask for what a user shares. Raises `StoreUnavailableError`."""

    mask: Mask
    open_settings: OpenSettings

    async def __call__(self, user_id: UserId) -> Hiding:
        return self.of(await self.open_settings(user_id))

    def of(self, settings: UserSettings) -> Hiding:
        """The mask for the user whose settings these are."""
        return Hiding(self.mask, Mask(settings.secrets.values()))
