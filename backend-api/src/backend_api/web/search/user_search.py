"""The search provider of a user's own key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.domain.table import SEARCH_KEYS, KeyedSearch
from backend_api.settings.ports import SearchTrialResult
from backend_api.web.search.provider import (
    SearchKeyError,
    SearchLimitError,
    SearchProvider,
    SearchUnavailableError,
)
from backend_api.web.search.registry import OWN

KEY_NAME = "your key in the settings"


@dataclass(frozen=True, slots=True)
class UserSearch:
    """Reads the settings for each search, so that a new key applies at once. `providers` are those that accept users'
    keys."""

    open_settings: OpenSettings
    http: ApiClient
    providers: Sequence[KeyedSearch] = tuple(OWN)

    async def of(self, user_id: str) -> SearchProvider | None:
        """The provider of the user's first key; None for a user without a key. Raises `StoreUnavailableError`."""
        if not self.providers:
            return None
        own = await self.open_settings(UserId(user_id))
        for provider in self.providers:
            if key := own.secret(SEARCH_KEYS[provider]):
                return OWN[provider](self.http, key, KEY_NAME)
        return None


@dataclass(frozen=True, slots=True)
class SearchKeyTrials:
    """The port of this name: it makes one search for one result."""

    http: ApiClient

    async def __call__(self, provider: KeyedSearch, key: str) -> SearchTrialResult:
        try:
            await OWN[provider](self.http, key, "it").search("weather", limit=1)
        except SearchKeyError as error:
            return SearchTrialResult(outcome="wrong_key", detail=error.detail)
        except SearchLimitError as error:
            return SearchTrialResult(outcome="limit", detail=error.detail)
        except SearchUnavailableError as error:
            return SearchTrialResult(outcome="unreachable", detail=error.detail)
        return SearchTrialResult(outcome="ok")
