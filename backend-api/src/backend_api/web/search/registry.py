"""The registry of search providers, chosen by settings. A new one is a file beside this one, and its lines here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backend_api.kit.http_address import HttpAddressError, check_http_address
from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.settings.domain.table import SEARCH_KEYS, KeyedSearch
from backend_api.web.search.brave import BraveSearch
from backend_api.web.search.custom import CustomSearch
from backend_api.web.search.duckduckgo import DuckDuckGoSearch
from backend_api.web.search.provider import SearchProvider
from backend_api.web.search.searxng import SearxngSearch
from backend_api.web.search.serper import SerperSearch
from backend_api.web.search.tavily import TavilySearch

AUTO, NONE = "auto", "none"


class SearchSettingError(ValueError):
    """A setting that stops the start; the message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """The deployment's settings by their names; an empty one is not set."""

    search_provider: str = AUTO
    tavily_api_key: str = field(default="", repr=False)
    brave_api_key: str = field(default="", repr=False)
    serper_api_key: str = field(default="", repr=False)
    searxng_url: str = ""
    custom_search_url: str = ""
    custom_search_api_key: str = field(default="", repr=False)

    def value(self, name: str) -> str:
        """The value of the setting of this name."""
        return str(getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A provider; `needs` is the setting it requires, empty for none."""

    build: Callable[[ApiClient, SearchSettings], SearchProvider]
    needs: str = ""


PROVIDERS: Mapping[str, Entry] = {
    "tavily": Entry(needs="tavily_api_key", build=lambda http, given: TavilySearch(http, given.tavily_api_key)),
    "brave": Entry(needs="brave_api_key", build=lambda http, given: BraveSearch(http, given.brave_api_key)),
    "serper": Entry(needs="serper_api_key", build=lambda http, given: SerperSearch(http, given.serper_api_key)),
    "searxng": Entry(needs="searxng_url", build=lambda http, given: SearxngSearch(http, given.searxng_url)),
    "custom": Entry(
        needs="custom_search_url",
        build=lambda http, given: CustomSearch(http, given.custom_search_url, given.custom_search_api_key),
    ),
    "duckduckgo": Entry(build=lambda http, _: DuckDuckGoSearch(http)),
}
"""Providers in the order in which `auto` chooses: the first whose required setting is set."""

OWN: Mapping[KeyedSearch, Callable[[ApiClient, str, str], SearchProvider]] = {
    "tavily": lambda http, key, key_name: TavilySearch(http, key, key_name=key_name),
    "brave": lambda http, key, key_name: BraveSearch(http, key, key_name=key_name),
    "serper": lambda http, key, key_name: SerperSearch(http, key, key_name=key_name),
}
"""Providers with a user's key, and the name of the setting that an error asks the user to check: only those whose
address is the same for all."""


def check_search(given: SearchSettings) -> None:
    """Refuse a start with wrong settings. Raises `SearchSettingError`."""
    _provider_name(given)
    for entry in PROVIDERS.values():
        if entry.needs.endswith("_url") and (url := given.value(entry.needs)):
            _check_address(entry.needs.upper(), url)
    for name in ("tavily_api_key", "brave_api_key", "serper_api_key", "custom_search_api_key"):
        if any(not "!" <= character <= "~" for character in given.value(name)):
            raise SearchSettingError(f"{name.upper()} contains a character that is not allowed in a key.")


def search_provider(given: SearchSettings, http: ApiClient) -> SearchProvider | None:
    """The deployment's provider; None if it wants none. Raises `SearchSettingError`."""
    name = _provider_name(given)
    return PROVIDERS[name].build(http, given) if name != NONE else None


def user_keys(setting: str) -> tuple[KeyedSearch, ...]:
    """The providers that use a user's own key if there is one; of several the first."""
    return tuple(name for name in SEARCH_KEYS if setting in (AUTO, name))


def _provider_name(given: SearchSettings) -> str:
    wanted = given.search_provider
    if wanted == AUTO:
        return next(name for name, entry in PROVIDERS.items() if not entry.needs or given.value(entry.needs))
    if wanted == NONE:
        return NONE
    if wanted not in PROVIDERS:
        known = ", ".join([AUTO, *PROVIDERS, NONE])
        raise SearchSettingError(f"SEARCH_PROVIDER={wanted} is unknown. Choose one of: {known}.")
    needs = PROVIDERS[wanted].needs
    if needs and not given.value(needs):
        raise SearchSettingError(f"SEARCH_PROVIDER={wanted} needs {needs.upper()}.")
    return wanted


def _check_address(name: str, url: str) -> None:
    try:
        check_http_address(url)
    except HttpAddressError as error:
        raise SearchSettingError(f"{name}: {error}.") from error
    if not url.isascii():
        raise SearchSettingError(f"{name}: an address must be ASCII.")
