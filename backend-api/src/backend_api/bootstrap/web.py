"""What agents read the web by: a search provider, and the guarded client for addresses that they name."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.application.settings.open_settings import OpenSettings
from backend_api.bootstrap.settings import Settings
from backend_api.domain.agent.tools import Tool
from backend_api.infrastructure.fetch.guarded_client import Fetched, FetchLimits, GuardedClient, guarded_client
from backend_api.infrastructure.fetch.page_text import PageReader
from backend_api.infrastructure.fetch.rules import FetchRules, allowed_hosts
from backend_api.infrastructure.search.bounded_search import search_http
from backend_api.infrastructure.search.own_search import OwnSearch
from backend_api.infrastructure.search.provider import Hit
from backend_api.infrastructure.search.registry import search_provider, uses_own_key
from backend_api.infrastructure.tools.web_fetch import web_fetch
from backend_api.infrastructure.tools.web_search import web_search


@asynccontextmanager
async def open_fetcher(settings: Settings) -> AsyncGenerator[GuardedClient]:
    """For all addresses that a model, a user or a page names."""
    rules = FetchRules(allowed_hosts(settings.fetch_allowed_hosts))
    async with guarded_client(rules, proxy=settings.fetch_proxy.get_secret_value()) as client:
        yield client


@asynccontextmanager
async def open_web_tools(
    settings: Settings, open_settings: OpenSettings, fetcher: GuardedClient
) -> AsyncGenerator[list[Tool]]:
    """Their connections are closed at the end."""
    async with search_http() as http:
        key = settings.tavily_api_key.get_secret_value() if settings.tavily_api_key else ""
        search = search_provider(settings.search_provider, tavily_key=key, http=http)
        own = OwnSearch(open_settings, http) if uses_own_key(settings.search_provider) else None
        yield [*([web_search(search, own)] if search is not None else []), web_fetch(fetcher, PageReader())]


def known_web_tools() -> list[Tool]:
    """As they are told of, also where something is not set."""
    return [web_search(_NoSearch()), web_fetch(_NoFetcher(), PageReader())]


class _NoSearch:
    name = "none"

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        raise NotImplementedError


class _NoFetcher:
    async def get(self, url: str, limits: FetchLimits, *, accept: str) -> Fetched:
        raise NotImplementedError
