"""What agents read the web by: a search provider, and the guarded client for addresses that they name."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx
from pydantic import SecretStr

from backend_api.agent.tool import Tool
from backend_api.main.settings import Settings
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.web.fetch.guarded_client import Fetched, FetchLimits, GuardedClient, guarded_client
from backend_api.web.fetch.page_text import PageReader
from backend_api.web.fetch.rules import FetchRules, allowed_hosts
from backend_api.web.search.own_search import OwnSearch
from backend_api.web.search.provider import Hit
from backend_api.web.search.registry import SearchSettings, own_keys, search_provider
from backend_api.web.tools.web_fetch import web_fetch
from backend_api.web.tools.web_search import web_search


@asynccontextmanager
async def open_fetcher(settings: Settings) -> AsyncGenerator[GuardedClient]:
    """For all addresses that a model, a user or a page names."""
    rules = FetchRules(allowed_hosts(settings.fetch_allowed_hosts))
    async with guarded_client(rules, proxy=settings.fetch_proxy.get_secret_value()) as client:
        yield client


def search_settings(settings: Settings) -> SearchSettings:
    """Of the deployment."""

    def secret(value: SecretStr | None) -> str:
        return value.get_secret_value() if value else ""

    return SearchSettings(
        search_provider=settings.search_provider.strip().lower(),
        tavily_api_key=secret(settings.tavily_api_key),
        brave_api_key=secret(settings.brave_api_key),
        serper_api_key=secret(settings.serper_api_key),
        searxng_url=settings.searxng_url,
        custom_search_url=settings.custom_search_url,
        custom_search_api_key=secret(settings.custom_search_api_key),
    )


def web_tools(
    given: SearchSettings, open_settings: OpenSettings, http: httpx.AsyncClient, fetcher: GuardedClient
) -> list[Tool]:
    """Those that the settings allow; `http` asks search providers."""
    search = search_provider(given, http)
    own = OwnSearch(open_settings, http, own_keys(given.search_provider))
    return [*([web_search(search, own)] if search is not None else []), web_fetch(fetcher, PageReader())]


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
