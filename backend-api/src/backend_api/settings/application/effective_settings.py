"""The part of a user's settings that applies to the user's runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from backend_api.agent.catalogue import ModelCatalogue
from backend_api.agent.options import NO_OPTIONS, Options
from backend_api.kit.ids import UserId
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.ports import UserCatalogues


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveSettings:
    """The models of a user, and the user's layer of options. `has_unreadable`: a key is set that can't be decrypted."""

    catalogue: ModelCatalogue
    options: Options = NO_OPTIONS
    has_unreadable: bool = False


@dataclass(frozen=True, slots=True)
class OpenEffectiveSettings:
    """Read the settings once; the models are available for the length of a block. Raises `StoreUnavailableError`."""

    open_settings: OpenSettings
    catalogues: UserCatalogues

    @asynccontextmanager
    async def __call__(self, user_id: UserId) -> AsyncGenerator[EffectiveSettings]:
        own = await self.open_settings(user_id)
        async with self.catalogues.of(own) as catalogue:
            yield EffectiveSettings(catalogue=catalogue, options=own.options, has_unreadable=bool(own.unreadable))
