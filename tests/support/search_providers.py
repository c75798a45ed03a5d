"""Every provider of web search, made for an address that answers in its place."""

from __future__ import annotations

from collections.abc import Callable

from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.web.search.brave import BraveSearch
from backend_api.web.search.custom import CustomSearch
from backend_api.web.search.duckduckgo import DuckDuckGoSearch
from backend_api.web.search.provider import SearchProvider
from backend_api.web.search.searxng import SearxngSearch
from backend_api.web.search.serper import SerperSearch
from backend_api.web.search.tavily import TavilySearch

NOTHING = b'{"results": [], "organic": [], "web": {"results": []}}'
"""As any of them says that it found nothing."""
Build = Callable[[ApiClient, str], SearchProvider]
PROVIDERS: dict[str, Build] = {
    "duckduckgo": lambda http, address: DuckDuckGoSearch(http, address=address),
    "tavily": lambda http, address: TavilySearch(http, "key", address=address),
    "brave": lambda http, address: BraveSearch(http, "key", address=address),
    "serper": lambda http, address: SerperSearch(http, "key", address=address),
    "searxng": lambda http, address: SearxngSearch(http, address),
    "custom": lambda http, address: CustomSearch(http, address, "key"),
}
