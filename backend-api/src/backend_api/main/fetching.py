"""The guarded client for addresses that a model, a user or a page names."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.main.settings import Settings
from backend_api.web.fetch.guarded_client import GuardedClient, guarded_client
from backend_api.web.fetch.rules import FetchRules, allowed_hosts


@asynccontextmanager
async def open_fetcher(settings: Settings) -> AsyncGenerator[GuardedClient]:
    """For all of them."""
    rules = FetchRules(allowed_hosts(settings.fetch_allowed_hosts))
    async with guarded_client(rules, proxy=settings.fetch_proxy.get_secret_value()) as client:
        yield client
