"""Web search and reading of web pages, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from pydantic import SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.tools.local import LocalTools
from backend_api.kit.settings import checked_key
from backend_api.kit.untrusted.api_client import ApiClient, api_client
from backend_api.kit.untrusted.guarded_client import Fetched, FetchLimits, GuardedClient
from backend_api.module import Module, Parts, Planned
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.domain.table import SEARCH_KEYS
from backend_api.web.fetch.page_text import PageReader
from backend_api.web.search.provider import Hit
from backend_api.web.search.registry import SearchSettings, check_search, search_provider, user_keys
from backend_api.web.search.search_request import DEADLINE_S, MAX_BYTES
from backend_api.web.search.user_search import SearchKeyTrials, UserSearch
from backend_api.web.tools.web_fetch import web_fetch
from backend_api.web.tools.web_search import web_search


class WebSettings(BaseSettings):
    """Settings read from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    search_provider: str = "auto"
    tavily_api_key: SecretStr | None = None
    brave_api_key: SecretStr | None = None
    serper_api_key: SecretStr | None = None
    searxng_url: str = ""
    custom_search_url: str = ""
    custom_search_api_key: SecretStr | None = None

    @field_validator("tavily_api_key", "brave_api_key", "serper_api_key", "custom_search_api_key")
    @classmethod
    def _key(cls, value: SecretStr | None) -> SecretStr | None:
        return checked_key(value)

    @property
    def search(self) -> SearchSettings:
        """The settings by which providers are chosen."""

        def secret(value: SecretStr | None) -> str:
            return value.get_secret_value() if value else ""

        return SearchSettings(
            search_provider=self.search_provider.strip().lower(),
            tavily_api_key=secret(self.tavily_api_key),
            brave_api_key=secret(self.brave_api_key),
            serper_api_key=secret(self.serper_api_key),
            searxng_url=self.searxng_url,
            custom_search_url=self.custom_search_url,
            custom_search_api_key=secret(self.custom_search_api_key),
        )


def plan_web(settings: WebSettings) -> Planned:
    """Plan the module. Ports: `search_keys`, the users' settings that providers use, and `held_search_keys`, those of
    them that the deployment has set. Raises `SearchSettingError`."""
    given = settings.search
    check_search(given)
    return Planned(
        ports={
            "search_keys": frozenset(SEARCH_KEYS[name] for name in user_keys(given.search_provider)),
            "held_search_keys": frozenset(one for one in SEARCH_KEYS.values() if given.value(one.key)),
        }
    )


@asynccontextmanager
async def open_web(
    *,
    settings: WebSettings,
    open_settings: OpenSettings,
    fetcher: GuardedClient,
    search_client: ApiClient | None = None,
) -> AsyncGenerator[Parts]:
    """Open the module. Port: `search_trials`, which tests keys of users."""
    async with AsyncExitStack() as stack:
        http = search_client or await stack.enter_async_context(api_client(whole_s=DEADLINE_S, body_bytes=MAX_BYTES))
        given = settings.search
        search, own = search_provider(given, http), UserSearch(open_settings, http, user_keys(given.search_provider))
        tools = [*([web_search(search, own)] if search is not None else []), web_fetch(fetcher, PageReader())]
        yield Parts(ports={"search_trials": SearchKeyTrials(http)}, tools=[LocalTools(tools)])


class _NoSearch:
    name = "none"

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        raise NotImplementedError


class _NoFetcher:
    async def get(self, url: str, limits: FetchLimits, *, accept: str) -> Fetched:
        raise NotImplementedError


WEB = Module(
    name="web",
    description="Search of the web, and reading of its pages.",
    settings=WebSettings,
    tools=[web_search(_NoSearch()), web_fetch(_NoFetcher(), PageReader())],
    plan=plan_web,
    open=open_web,
)
