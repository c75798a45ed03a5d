"""Which search provider a setting names."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from backend_api.infrastructure.search.duckduckgo import DuckDuckGoSearch
from backend_api.infrastructure.search.provider import SearchProvider
from backend_api.infrastructure.search.tavily import TavilySearch


class SearchSettingError(ValueError):
    """A setting that stops the start; the message names it."""


def _tavily(http: httpx.AsyncClient, tavily_key: str) -> SearchProvider:
    if not tavily_key:
        raise SearchSettingError("SEARCH_PROVIDER=tavily needs TAVILY_API_KEY.")
    return TavilySearch(http, tavily_key)


def _duckduckgo(http: httpx.AsyncClient, tavily_key: str) -> SearchProvider:
    return DuckDuckGoSearch(http)


PROVIDERS: dict[str, Callable[[httpx.AsyncClient, str], SearchProvider]] = {
    "tavily": _tavily,
    "duckduckgo": _duckduckgo,
}


def search_provider(setting: str, *, tavily_key: str, http: httpx.AsyncClient) -> SearchProvider | None:
    """`auto` takes the keyed provider where there is a key; `none` gives none."""
    if setting == "none":
        return None
    name = ("tavily" if tavily_key else "duckduckgo") if setting == "auto" else setting
    if name not in PROVIDERS:
        known = ", ".join(["auto", *PROVIDERS, "none"])
        raise SearchSettingError(f"SEARCH_PROVIDER={setting} is unknown. Choose one of: {known}.")
    return PROVIDERS[name](http, tavily_key)


def uses_own_key(setting: str) -> bool:
    """Whether a user's own key of Tavily is used where there is one."""
    return setting in ("auto", "tavily")
