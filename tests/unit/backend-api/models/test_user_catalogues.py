"""The models of a user: whose key is asked for what, at which address, and how long connections are kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from prometheus_client import generate_latest

from backend_api.agent.events import Usage
from backend_api.agent.model import FinishPart, ModelRequest, TextPart, UsagePart
from backend_api.kit import measures
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import LlmSettings
from backend_api.models.wire.calls import RetryPolicy
from backend_api.settings.domain import table
from backend_api.settings.domain.base_urls import BaseUrls
from backend_api.settings.domain.entity import UserSettings
from backend_api.settings.user_catalogues import UserCatalogues
from support.scripted import ScriptedModel

OPENAI, CLAUDE = "sk-user-openai-0123456789", "sk-user-claude-0123456789"
SHARED: dict[str, Any] = {"openai_key": "sk-shared", "openai_base_url": "https://inner.example/v1", "model": "house"}


def own(user: str = "anna", **settings: Any) -> UserSettings:
    values: dict[str, Any] = {}
    secrets: dict[str, str] = {}
    for key, value in settings.items():
        (secrets if key.endswith("_key") else values)[f"models/{key}"] = value
    return UserSettings(user_id=UserId(user), version=2, values=values, secrets=secrets)


@asynccontextmanager
async def catalogues(shared: dict[str, Any] | None = None, **more: Any) -> AsyncGenerator[UserCatalogues]:
    settings, retry = LlmSettings(**(shared or {})), RetryPolicy()
    async with (
        Catalogue(settings, retry) as deployment,
        UserCatalogues(deployment, settings, retry, base_urls=BaseUrls(), **more) as opened,
    ):
        yield opened


async def offered(opened: UserCatalogues, settings: UserSettings) -> list[str]:
    async with opened.of(settings) as catalogue:
        return [model.id for model in catalogue.models()]


def asked_with(catalogue: Catalogue, provider: str) -> tuple[str, str]:
    """Key and address."""
    model: Any = catalogue._open[provider]
    return model.endpoint.headers["authorization"].removeprefix("Bearer "), model.endpoint.url


async def test_a_user_without_settings_has_the_deployments() -> None:
    async with catalogues(SHARED) as opened:
        assert await offered(opened, own()) == ["house", "demo"]
    async with catalogues() as opened:
        assert await offered(opened, own()) == ["demo"]


async def test_the_demo_model_leaves_with_the_first_own_key_and_comes_back_without_it() -> None:
    async with catalogues() as opened:
        assert await offered(opened, own(openai_api_key=OPENAI)) == ["gpt-5.5"]
        assert await offered(opened, own(anthropic_api_key=CLAUDE)) == ["claude-sonnet-5"]
        assert await offered(opened, own(default_model="demo")) == ["demo"]
        assert await offered(opened, own()) == ["demo"]


async def test_own_models_come_first_and_those_of_the_deployment_stay() -> None:
    async with catalogues(SHARED) as opened:
        settings = own(anthropic_api_key=CLAUDE, anthropic_models=["claude-haiku-5-5", "claude-opus-5"])
        assert await offered(opened, settings) == ["claude-haiku-5-5", "claude-opus-5", "house"]
        settings = own(anthropic_api_key=CLAUDE, default_model="house")
        assert await offered(opened, settings) == ["house", "claude-sonnet-5"]


async def test_the_deployments_key_goes_to_no_address_of_a_user() -> None:
    async with catalogues(SHARED) as opened:
        elsewhere = own(openai_base_url="https://openrouter.ai/api/v1", openai_models=["x/y"])
        async with opened.of(elsewhere) as catalogue:
            assert asked_with(catalogue, "openai") == ("none", "https://openrouter.ai/api/v1/chat/completions")
            assert [model.id for model in catalogue.models()] == ["x/y"]
        async with opened.of(own(openai_api_key=OPENAI)) as catalogue:
            assert asked_with(catalogue, "openai") == (OPENAI, "https://inner.example/v1/chat/completions")


async def test_an_own_key_goes_nowhere_once_its_address_is_not_allowed_or_it_can_not_be_read() -> None:
    async with catalogues(SHARED) as opened:
        settings = own(openai_api_key=OPENAI, openai_base_url="https://gone.example/v1")
        async with opened.of(settings) as catalogue:
            assert catalogue._open == {}
            assert [model.id for model in catalogue.models()] == ["house", "demo"]
        unreadable = UserSettings(
            user_id=UserId("anna"),
            values={"models/openai_base_url": "https://openrouter.ai/api/v1"},
            unreadable=frozenset({table.OPENAI_API_KEY.name}),
        )
        async with opened.of(unreadable) as catalogue:
            assert catalogue._open == {}


async def test_users_have_connections_of_their_own_keys_and_share_the_deployments() -> None:
    async with catalogues(SHARED) as opened:
        async with opened.of(own("anna", anthropic_api_key=CLAUDE)) as anna, opened.of(own("bert")) as bert:
            assert asked_with(anna, "anthropic")[0] == CLAUDE
            assert anna._lent["openai"] is bert._open["openai"]
        async with opened.of(own("bert", anthropic_api_key="sk-of-bert-0123456789")) as bert:
            assert asked_with(bert, "anthropic")[0] == "sk-of-bert-0123456789"


async def test_what_is_kept_is_bounded_closed_when_idle_and_open_while_it_is_asked() -> None:
    closed: list[str] = []

    def watch(catalogue: Catalogue) -> None:
        model: Any = catalogue._open["anthropic"]
        key, close = asked_with(catalogue, "anthropic")[0], model.aclose

        async def aclose() -> None:
            closed.append(key)
            await close()

        model.aclose = aclose

    async with catalogues(most_kept=2) as opened:
        async with opened.of(own("anna", anthropic_api_key="key-one-0123")) as first:
            watch(first)
            async with opened.of(own("anna", anthropic_api_key="key-two-0123")) as second:
                watch(second)
            assert closed == []
        assert closed == ["key-one-0123"]
        async with opened.of(own("anna", anthropic_api_key="key-two-0123")) as again:
            assert again is second
        for user in ("bert", "cleo"):
            async with opened.of(own(user, anthropic_api_key=f"key-{user}-0123")) as catalogue:
                watch(catalogue)
        assert closed == ["key-one-0123", "key-two-0123"]
    assert sorted(closed) == ["key-bert-0123", "key-cleo-0123", "key-one-0123", "key-two-0123"]


async def test_roles_of_the_deployment_are_not_asked_for_those_with_own_keys() -> None:
    shared = {"anthropic_key": "sk-shared", "roles": {"compact": "claude-haiku-5-5", "subagent": "claude-sonnet-5"}}
    async with catalogues(shared) as opened:
        async with opened.of(own(openai_api_key=OPENAI)) as catalogue:
            assert catalogue.role("compact") is None
            subagent = catalogue.role("subagent")
            assert subagent is not None
            assert subagent.info.id == "claude-sonnet-5"  # on offer
        async with opened.of(own(openai_api_key=OPENAI, compact_model="gpt-5.5")) as catalogue:
            compact = catalogue.role("compact")
            assert compact is not None
            assert compact.info.id == "gpt-5.5"
        async with opened.of(own(default_model="claude-sonnet-5")) as catalogue:
            assert catalogue.role("compact") is not None


async def test_it_is_told_which_roles_of_the_deployment_are_asked_for_a_user_who_names_none() -> None:
    shared = {"anthropic_key": "sk-shared", "roles": {"compact": "claude-haiku-5-5", "subagent": "claude-sonnet-5"}}
    both = {"models/compact_model": "claude-haiku-5-5", "models/subagent_model": "claude-sonnet-5"}
    async with catalogues(shared) as opened:
        assert opened.deployment_roles(own()) == both
        assert opened.deployment_roles(own(compact_model="claude-sonnet-5")) == both
        with_key = own(openai_api_key=OPENAI, compact_model="gpt-5.5")
        assert opened.deployment_roles(with_key) == {"models/subagent_model": "claude-sonnet-5"}
    async with catalogues() as opened:
        assert opened.deployment_roles(own()) == {}


async def test_a_model_without_a_price_is_refused_where_the_cost_is_limited() -> None:
    async with catalogues(needs_prices=True) as opened:
        await opened.check(own(anthropic_api_key=CLAUDE))
        with pytest.raises(InvalidError, match="mystery"):
            await opened.check(own(anthropic_api_key=CLAUDE, anthropic_models=["mystery"]))


async def test_names_that_a_user_chose_are_measured_together() -> None:
    names = [f"mine-{number}" for number in range(600)]
    settings = own(openai_api_key=OPENAI, openai_models=["house", *names])
    before = counted("house"), counted("other")
    async with catalogues(SHARED) as opened, opened.of(settings) as catalogue:
        for name in ("house", *names):
            chat: Any = catalogue.choose(name).chat
            chat._inner = ScriptedModel([TextPart("hi"), UsagePart(Usage(input=1)), FinishPart("stop")])
            asked = ModelRequest(model=name, system="", turns=[], tools=[], max_output_tokens=1)
            assert [part async for part in chat.stream(asked)][-1] == FinishPart("stop")
    assert (counted("house"), counted("other")) == (before[0] + 1, before[1] + 600)
    assert "mine-" not in generate_latest(measures.REGISTRY).decode()


def counted(model: str) -> float:
    """Calls that were measured under this name."""
    labels = {"model": model, "outcome": "stop", "provider": "openai"}
    return measures.REGISTRY.get_sample_value("agent_model_calls_total", labels) or 0.0
