"""The guarded client for addresses that a model, a user or a page names, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.kit.settings import Names
from backend_api.kit.untrusted.guarded_client import guarded_client
from backend_api.kit.untrusted.rules import FetchRules, allowed_hosts
from backend_api.module import Module, Parts, Planned


class FetchSettings(BaseSettings):
    """Settings read from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    fetch_allowed_hosts: Names = ()
    fetch_proxy: SecretStr = SecretStr("")

    @field_validator("fetch_allowed_hosts")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        allowed_hosts(value)
        return value

    @field_validator("fetch_proxy")
    @classmethod
    def _proxy(cls, value: SecretStr) -> SecretStr:
        parts = urlsplit(value.get_secret_value())
        if value.get_secret_value() and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("is the address of a proxy, such as http://proxy.example.org:3128")
        return value


def plan_fetch(settings: FetchSettings) -> Planned:
    """Plan the module. Port: `fetch_proxy`, the address of the proxy; a password in it is a secret."""
    proxy = settings.fetch_proxy.get_secret_value()
    password = urlsplit(proxy).password or ""
    return Planned(ports={"fetch_proxy": proxy}, secrets=[one for one in (password, unquote(password)) if one])


@asynccontextmanager
async def open_fetch(settings: FetchSettings, fetch_proxy: str) -> AsyncGenerator[Parts]:
    """Open the client. Port: `fetcher`."""
    rules = FetchRules(allowed_hosts(settings.fetch_allowed_hosts))
    async with guarded_client(rules, proxy=fetch_proxy) as client:
        yield Parts(ports={"fetcher": client})


FETCH = Module(
    name="fetch",
    description="The client for addresses that a model, a user or a page names.",
    settings=FetchSettings,
    plan=plan_fetch,
    open=open_fetch,
)
