"""The search provider of a user's own key."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from backend_api.application.settings.open_settings import OpenSettings
from backend_api.domain.identity.entity import UserId
from backend_api.domain.settings.table import TAVILY_API_KEY
from backend_api.infrastructure.search.provider import SearchProvider
from backend_api.infrastructure.search.tavily import ADDRESS, TavilySearch


@dataclass(frozen=True, slots=True)
class OwnSearch:
    """One read a search, so that a key acts at once."""

    open_settings: OpenSettings
    http: httpx.AsyncClient
    address: str = ADDRESS

    async def of(self, user_id: str) -> SearchProvider | None:
        """None for a user without a key. Raises `StoreUnavailableError`."""
        key = (await self.open_settings(UserId(user_id))).secret(TAVILY_API_KEY)
        return TavilySearch(self.http, key, address=self.address, key_name="your key in the settings") if key else None
