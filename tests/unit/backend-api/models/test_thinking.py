"""What models are asked for thinking, by their names."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.model import Thinks
from backend_api.models.catalogue import Catalogue, LlmSettings
from backend_api.models.model_facts import elsewhere
from backend_api.models.wire.thinking import (
    claude_fields,
    empty_reasoning,
    openai_fields,
    openai_thinks,
    responses_fields,
    responses_thinks,
)

ADAPTIVE = {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "max"}}


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ("claude-3-haiku-20240307", "never"),
        ("claude-3-5-sonnet-latest", "never"),
        ("claude-3-7-sonnet-latest", "optional"),
        ("claude-opus-4-20250514", "optional"),
        ("claude-haiku-4-5-20251001", "optional"),
        ("claude-sonnet-5", "optional"),
        ("claude-opus-5", "optional"),
        ("claude-opus-5-5", "always"),
        ("claude-fable-5", "always"),
        ("claude-haiku-6", "always"),
        ("glm-5", "optional"),
    ],
)
def test_which_models_of_anthropic_think(model: str, thinks: Thinks) -> None:
    (info,) = [
        info
        for info in Catalogue(LlmSettings(provider="anthropic", model=model, anthropic_key="k")).models()
        if not info.is_demo
    ]
    assert info.thinking == thinks


def test_newer_models_think_as_they_see_fit_and_older_ones_within_a_budget() -> None:
    assert claude_fields(elsewhere("claude-sonnet-5"), "max", 16_000) == ADAPTIVE
    assert claude_fields(elsewhere("claude-opus-4-6"), "max", 16_000) == ADAPTIVE
    for model in ("claude-3-7-sonnet-latest", "claude-opus-4-20250514", "claude-haiku-4-5", "glm-5"):
        high, most = (claude_fields(elsewhere(model), effort, 16_000)["thinking"] for effort in ("high", "max"))
        assert (high, most) == (
            {"type": "enabled", "budget_tokens": 8_000},
            {"type": "enabled", "budget_tokens": 12_000},
        )
        assert claude_fields(elsewhere(model), "max", 16_000, has_begun_without=True) == {
            "thinking": {"type": "disabled"}
        }
    assert claude_fields(elsewhere("claude-sonnet-5"), "max", 16_000, has_begun_without=True) == ADAPTIVE
    assert claude_fields(elsewhere("claude-sonnet-5"), "off", 16_000) == {"thinking": {"type": "disabled"}}
    assert claude_fields(elsewhere("claude-sonnet-5"), None, 16_000) == {}


@pytest.mark.parametrize(
    ("model", "thinks", "off", "high"),
    [
        ("gpt-4o", "never", {"reasoning_effort": "none"}, {"reasoning_effort": "high"}),
        ("o4-mini", "always", {"reasoning_effort": "none"}, {"reasoning_effort": "high"}),
        ("gpt-5-mini", "always", {"reasoning_effort": "none"}, {"reasoning_effort": "high"}),
        ("gpt-5.1", "optional", {"reasoning_effort": "none"}, {"reasoning_effort": "high"}),
        ("gpt-5.5", "never", {"reasoning_effort": "none"}, {"reasoning_effort": "none"}),
        ("gpt-5.6-sol", "never", {"reasoning_effort": "none"}, {"reasoning_effort": "none"}),
    ],
)
def test_models_of_openai(model: str, thinks: Thinks, off: dict[str, Any], high: dict[str, Any]) -> None:
    assert openai_thinks(model, is_official=True) == thinks
    assert openai_fields(model, "off", is_official=True, has_tools=True) == off
    assert openai_fields(model, "high", is_official=True, has_tools=True) == high


def test_a_model_that_takes_no_tools_while_it_reasons_is_told_not_to() -> None:
    assert openai_fields("gpt-5.6", None, is_official=True, has_tools=True) == {"reasoning_effort": "none"}
    assert openai_fields("gpt-5.6", None, is_official=True, has_tools=False) == {}
    assert openai_fields("gpt-5.1", None, is_official=True, has_tools=True) == {}


def test_a_compatible_server_is_asked_for_an_effort_or_nothing() -> None:
    def asked(thinking: Any, model: str = "qwen3") -> dict[str, Any]:
        return openai_fields(model, thinking, is_official=False, has_tools=True)

    assert openai_thinks("gpt-5.5", is_official=False) == "optional"
    assert (asked("max"), asked("off"), asked(None)) == ({"reasoning_effort": "max"}, {}, {})
    on, off = {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}
    for model in ("deepseek-v4-pro", "deepseek/deepseek-v3.2", "kimi-k2.5"):
        assert asked("max", model) == {**on, "reasoning_effort": "max"}
        assert (asked("off", model), asked(None, model)) == (off, {})


@pytest.mark.parametrize(
    ("model", "empty"),
    [
        ("deepseek-v4-pro", ""),
        ("deepseek/deepseek-v3.2-exp", ""),
        ("deepseek-reasoner", ""),
        ("deepseek-coder", None),
        ("moonshotai/kimi-k2.5", " "),
        ("mimo-v2-flash", ""),
        ("gpt-5.5", None),
        ("qwen3", None),
    ],
)
def test_which_models_want_the_thinking_of_each_call_back(model: str, empty: str | None) -> None:
    assert empty_reasoning(model) == empty


@pytest.mark.parametrize(
    ("model", "thinks", "effort"),
    [
        ("gpt-4o", "never", None),
        ("o4-mini", "always", "high"),
        ("gpt-5-mini", "always", "high"),
        ("gpt-5.1", "optional", "high"),
        ("gpt-5.1-codex", "always", "high"),
        ("gpt-5.5", "optional", "xhigh"),
        ("gpt-5.5-pro", "always", "xhigh"),
    ],
)
def test_models_of_openai_by_responses(model: str, thinks: Thinks, effort: str | None) -> None:
    assert responses_thinks(model, is_official=True) == thinks
    fields = responses_fields(model, "max", is_official=True)
    assert fields.get("reasoning", {}).get("effort") == effort
    assert ("include" in fields) == (thinks != "never")


def test_compatible_servers_are_asked_for_chat_completions_unless_told_otherwise() -> None:
    def thinks(**settings: Any) -> str:
        return Catalogue(LlmSettings(model="gpt-5.5", openai_key="k", **settings)).default().thinking

    official = "https://api.openai.com/v1"
    assert thinks() == "optional"
    assert thinks(openai_api="chat") == "never"
    assert thinks(openai_base_url=official) == "never"
    assert thinks(openai_base_url=official, openai_api="responses") == "optional"


def test_the_models_on_offer_say_whether_they_think() -> None:
    catalogue = Catalogue(
        LlmSettings(provider="auto", model="gpt-4o", models=("o4-mini",), openai_key="k", anthropic_key="k")
    )
    assert {info.id: info.thinking for info in catalogue.models()} == {
        "gpt-4o": "never",
        "o4-mini": "always",
        "claude-sonnet-5": "optional",
        "demo": "optional",
    }
