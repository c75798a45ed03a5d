"""What is known of models by their names: prices, bounds, and the deployment's own file over it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from backend_api.agent.events import Usage
from backend_api.agent.model import FinishPart, ModelInfo, ModelRequest, Part, TextPart, UsagePart
from backend_api.agent.prices import Prices
from backend_api.kit import measures
from backend_api.models.catalogue import Catalogue, LlmSettingError, LlmSettings
from backend_api.models.model_facts import ModelTable, read_models_file
from backend_api.models.wire.calls import ModelCalls, RetryPolicy
from support.scripted import ScriptedModel

MILLION = 1_000_000
PRICES = Prices(input=3, cache_read=0.3, cache_write=3.75, output=15)
LOCAL = """
[[model]]
names = ["qwen3:8b"]
context_window = 32_000
thinking = "never"
prices = { input = 0, output = 0 }
"""


def info_of(model: str, **settings: Any) -> ModelInfo:
    if not {"openai_key", "openai_base_url"} & set(settings):
        settings = {"anthropic_key": "k", **settings}
    return Catalogue(LlmSettings(model=model, **settings)).choose(model).info


def with_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "models.toml"
    path.write_text(text)
    return path


def test_each_kind_of_token_has_its_price() -> None:
    usage = Usage(input=10 * MILLION, cached=4 * MILLION, cache_write=2 * MILLION, output=MILLION)
    assert PRICES.cost(usage) == pytest.approx(4 * 3 + 4 * 0.3 + 2 * 3.75 + 15)


def test_a_long_call_costs_more_as_a_whole() -> None:
    prices = info_of("claude-haiku-5-5").prices
    assert prices is not None
    assert prices.cost(Usage(input=100_000, output=MILLION)) == pytest.approx(0.01 + 0.5)
    assert prices.cost(Usage(input=100_001, output=MILLION)) == pytest.approx(0.0500005 + 2.5)


def test_a_call_whose_usage_was_not_told_has_no_known_cost_unless_it_is_free() -> None:
    assert PRICES.cost(Usage()) is None
    assert Prices(input=0, cache_read=0, cache_write=0, output=0).cost(Usage()) == 0.0


async def test_a_call_tells_its_cost_with_its_usage() -> None:
    request = ModelRequest(model="m", system="", turns=[], tools=[], max_output_tokens=1)
    model = ScriptedModel([UsagePart(Usage(input=MILLION)), FinishPart("stop")])
    told: list[float | None] = []
    for prices in (PRICES, None):
        async with aclosing(ModelCalls(model, "p", RetryPolicy(), prices=prices).stream(request)) as parts:
            told += [part.usage.cost async for part in parts if isinstance(part, UsagePart)]
    assert told == [3.0, None]


@pytest.mark.parametrize(
    ("model", "settings", "price", "window"),
    [
        ("claude-sonnet-5", {}, 2, 1_000_000),
        ("claude-sonnet-4-5-20250929", {}, 3, 200_000),
        ("claude-opus-4-20250514", {}, 15, 200_000),
        ("claude-opus-4-5-20251101", {}, 5, 200_000),
        ("gpt-5.5-2026-04-23", {"openai_key": "k"}, 5, 922_000),
        ("claude-opus-9", {}, None, 200_000),
        ("gpt-5.5-mini", {"openai_key": "k"}, None, 200_000),
        ("gpt-5.5", {"openai_key": "k", "openai_base_url": "https://proxy.example/v1"}, None, 200_000),
        ("claude-sonnet-5", {"anthropic_base_url": "https://proxy.example"}, None, 200_000),
    ],
)
def test_a_price_is_known_of_exactly_the_models_that_have_it_at_their_makers_address(
    model: str, settings: dict[str, Any], price: float | None, window: int
) -> None:
    info = info_of(model, **settings)
    assert (info.prices.input if info.prices else None, info.context_window) == (price, window)


def test_no_more_is_asked_for_than_a_model_can_answer() -> None:
    assert info_of("claude-3-haiku-20240307").output_tokens(16_384) == 4_096
    assert info_of("claude-sonnet-5").output_tokens(16_384) == 16_384
    assert info_of("claude-opus-9").output_tokens(16_384) == 16_384


@pytest.mark.parametrize(
    ("model", "provider", "form"),
    [
        ("claude-opus-5-5", "anthropic", "computer_toolset_20260801"),
        ("claude-opus-4-5-20251101", "anthropic", "computer_20251124"),
        ("claude-sonnet-4-5", "anthropic", "computer_20250124"),
        ("claude-3-5-haiku", "anthropic", None),
        ("gpt-5.5", "openai", "computer"),
        ("gpt-4o", "openai", None),
    ],
)
def test_a_model_uses_a_desktop_by_the_tool_of_its_maker_at_its_makers_address(
    model: str, provider: str, form: str | None
) -> None:
    assert ModelTable().facts(model, provider, is_official=True).computer_use == form
    assert ModelTable().facts(model, provider, is_official=False).computer_use is None


def test_the_deployments_file_says_by_which_tool_a_model_uses_a_desktop(tmp_path: Path) -> None:
    text = '[[model]]\nnames = ["mine"]\ncomputer_use = "computer_use_preview"\n'
    table = read_models_file(with_file(tmp_path, text))
    assert table.facts("mine", "openai", is_official=False).computer_use == "computer_use_preview"


def test_the_deployments_file_names_what_the_product_does_not_know(tmp_path: Path) -> None:
    address = {"openai_base_url": "http://127.0.0.1:11434/v1", "models_file": with_file(tmp_path, LOCAL)}
    info = info_of("qwen3:8b", **address)
    assert info.prices is not None
    assert (info.context_window, info.thinking, info.prices.cost(Usage(input=9))) == (32_000, "never", 0.0)


def test_the_deployments_file_counts_more_field_by_field(tmp_path: Path) -> None:
    own = """
    [[model]]
    names = ["claude-sonnet-*"]
    prices = { input = 1, output = 2 }
    """
    info = info_of("claude-sonnet-5", models_file=with_file(tmp_path, own))
    assert info.prices == Prices(input=1, cache_read=1, cache_write=1, output=2)
    assert (info.context_window, info.vision) == (1_000_000, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[model]\n", "is not valid TOML"),
        ('[[model]]\nnames = ["a"]\n[[model]]\nnames = ["b"]\nwindow = 1', "number 2, field window"),
        ('[[model]]\nnames = ["a"]\nprices = { input = -1, output = 1 }', "number 1, field prices.input"),
        ('[[model]]\nnames = ["a"]\nprices = { input = nan, output = 1 }', "number 1, field prices.input"),
        ('[[model]]\nnames = ["a"]\nprices = { output = 1 }', "number 1, field prices.input"),
        ('[[model]]\nnames = ["a"]\nthinking = "often"', "number 1, field thinking"),
        ('[[model]]\nnames = ["a"]\ncontext_window = 0', "number 1, field context_window"),
        ("[[model]]\nnames = []", "number 1, field names"),
        ("[[model]]\npictures = true", "number 1, field names"),
        ("[[models]]\n", "models: "),
        ('[[model]]\nnames = ["m"]\nthinking_form = "budget"', "m: thinking_form"),
    ],
)
def test_a_file_that_is_wrong_stops_the_start_and_says_where(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(LlmSettingError) as caught:
        Catalogue(LlmSettings(model="m", openai_key="k", models_file=with_file(tmp_path, text)))
    assert said in str(caught.value)
    assert "MODELS_FILE" in str(caught.value)


def test_a_file_with_fields_of_earlier_versions_is_read_without_them(tmp_path: Path) -> None:
    file = with_file(tmp_path, LOCAL + "binds_thinking = true\nsystem_notes = false\n")
    assert info_of("qwen3:8b", openai_base_url="http://127.0.0.1:11434/v1", models_file=file).context_window == 32_000


def test_a_file_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(LlmSettingError, match=r"MODELS_FILE=.*can't be read"):
        Catalogue(LlmSettings(models_file=tmp_path / "none.toml"))


class Slow:
    """`ChatModel` that tells its usage at once and takes its time for the text."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        del request
        yield UsagePart(Usage(input=1))
        await asyncio.sleep(0.05)
        yield TextPart("ok")
        yield FinishPart("stop")


async def test_the_first_token_is_the_first_of_the_answer_and_not_its_usage() -> None:
    request = ModelRequest(model="m", system="", turns=[], tools=[], max_output_tokens=1)
    async with aclosing(ModelCalls(Slow(), "slow", RetryPolicy()).stream(request)) as parts:
        assert [type(part) async for part in parts] == [UsagePart, TextPart, FinishPart]
    labels = {"provider": "slow", "model": "m"}
    name = "agent_model_first_token_seconds"
    assert measures.REGISTRY.get_sample_value(f"{name}_count", labels) == 1
    assert (measures.REGISTRY.get_sample_value(f"{name}_sum", labels) or 0) >= 0.05


@pytest.mark.parametrize(
    ("name", "provider", "is_known"),
    [
        ("claude-sonnet-4-5-20250929", "anthropic", True),
        ("claude-haiku-5-5", "anthropic", True),
        ("claude-opus-4-1", "anthropic", None),
        ("gpt-5.4-mini", "openai", True),
        ("gpt-5.2", "openai", None),
    ],
)
def test_a_search_for_tools_is_known_of_newer_models_at_their_makers(
    name: str, provider: str, is_known: bool | None
) -> None:
    assert ModelTable().facts(name, provider, is_official=True).tool_search is is_known
    assert ModelTable().facts(name, provider, is_official=False).tool_search is None
