"""Tokens against what independent builds of the vocabularies count: OpenAI's own and two others."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from backend_api.domain.agent.sizes import estimated_tokens, most_tokens
from backend_api.infrastructure.llm import tokenizers
from backend_api.infrastructure.llm.catalogue import Catalogue, LlmSettings
from backend_api.infrastructure.llm.tokenizers import Tokenizers, vocabulary_of

KNOWN: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "data" / "token_counts.json").read_text(encoding="utf-8")
)
CHINESE = [name for name in KNOWN if name.startswith("chinese")]
MODELS = {"o200k_base": "gpt-5.5", "deepseek_v3": "deepseek-chat", "qwen3": "qwen3:8b"}


@pytest.fixture(scope="module")
def loaded() -> Tokenizers:
    made = Tokenizers()
    made.load(MODELS.values())
    return made


@pytest.mark.parametrize("vocabulary", MODELS)
@pytest.mark.parametrize("name", KNOWN)
def test_a_text_has_the_tokens_that_its_model_counts(loaded: Tokenizers, name: str, vocabulary: str) -> None:
    assert loaded.counter(MODELS[vocabulary])(KNOWN[name]["text"]) == KNOWN[name][vocabulary]


@pytest.mark.parametrize("model", ["gpt-5.5", "glm-5", "kimi-k2"])
def test_no_text_meets_anything_that_is_still_to_be_made(model: str) -> None:
    made = Tokenizers()
    made.load([model])
    began = time.thread_time()
    made.counter(model)("b" * 1_000)
    assert time.thread_time() - began < 0.05


@pytest.mark.parametrize("vocabulary", MODELS)
@pytest.mark.parametrize("name", CHINESE)
def test_long_chinese_is_within_a_few_percent_of_what_its_model_counts(
    loaded: Tokenizers, name: str, vocabulary: str
) -> None:
    times = 1_000
    counted = loaded.counter(MODELS[vocabulary])(KNOWN[name]["text"] * times)
    assert counted == pytest.approx(KNOWN[name][vocabulary] * times, rel=0.05)


@pytest.mark.parametrize("name", CHINESE)
def test_chinese_is_estimated_within_15_percent(name: str) -> None:
    text: str = KNOWN[name]["text"]
    assert estimated_tokens(text) == pytest.approx(KNOWN[name]["o200k_base"], rel=0.15)


@pytest.mark.parametrize("name", KNOWN)
def test_no_text_has_more_tokens_than_the_most_it_can_have(name: str) -> None:
    assert most_tokens(KNOWN[name]["text"]) >= max(KNOWN[name][vocabulary] for vocabulary in MODELS)


def test_of_a_long_text_only_pieces_are_counted_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []

    def encode(text: str) -> list[int]:
        given.append(len(text))
        return [0] * len(text)

    made = Tokenizers()
    monkeypatch.setitem(made._loaded, "o200k_base", encode)
    count = made.counter("gpt-5.5")
    assert count("a" * 10_000_000) == 10_000_000
    assert (len(given), sum(given)) == (8, 8_000)
    assert count("a" * 10_000_000) == 10_000_000
    assert len(given) == 8


def test_nothing_is_left_to_be_loaded_once_it_counts() -> None:
    made = Tokenizers()
    made.load(["gpt-5.5"])
    began = time.process_time()
    made.counter("gpt-5.5")("Words, and one that stands in no list: jkqwxvz")
    assert time.process_time() - began < 0.05


def test_what_was_counted_is_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers, "REMEMBERED", 10)
    made = Tokenizers()
    monkeypatch.setitem(made._loaded, "o200k_base", lambda text: [0])
    count = made.counter("gpt-5.5")
    for number in range(50):
        count(f"{number:300}")
    assert len(made._counted) == 10


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ud800 half",
        "a" * 1_000_000,
        " " * 1_000_000,
        "中" * 300_000,
        "\x00" * 10_000,
        "<|endoftext|>",
        "\ud83d" * 9_000,
    ],
    ids=["empty", "half a pair", "one letter", "spaces", "one character", "zeros", "a mark", "many halves"],
)
def test_odd_texts_are_counted_too(loaded: Tokenizers, text: str) -> None:
    assert 0 <= loaded.counter("gpt-5.5")(text) <= most_tokens(text)
    assert 0 <= estimated_tokens(text) <= most_tokens(text)


def test_without_the_package_tokens_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    made = Tokenizers()
    made.load(["gpt-5.5"])
    text = KNOWN["chinese"]["text"]
    assert made.counter("gpt-5.5")(text) == estimated_tokens(text)


@pytest.mark.parametrize(
    ("model", "vocabulary"),
    [
        ("gpt-5.5", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("claude-sonnet-5", "o200k_base"),
        ("deepseek/DeepSeek-V3.2", "deepseek_v3"),
        ("Qwen/Qwen3-32B", "qwen3"),
        ("glm-4.7", "glm4"),
        ("kimi-k2.5", "kimi_k2"),
        ("llama3.3:70b", "llama3"),
        ("mistral-large", "mistral_v3"),
    ],
)
def test_the_vocabulary_follows_from_the_models_name(model: str, vocabulary: str) -> None:
    assert vocabulary_of(model) == vocabulary


def test_every_vocabulary_that_is_named_is_there() -> None:
    made = Tokenizers()
    made.load(part for part, _ in tokenizers.VOCABULARIES)
    assert made._loaded.keys() == {vocabulary for _, vocabulary in tokenizers.VOCABULARIES}


def test_the_models_on_offer_are_counted_by_their_own_vocabularies() -> None:
    catalogue = Catalogue(
        LlmSettings(provider="openai", model="deepseek-chat", openai_base_url="http://127.0.0.1:9/v1")
    )
    text = KNOWN["json"]["text"]
    count = catalogue.choose(None).count_tokens
    assert count(text) == estimated_tokens(text), "as long as nothing is loaded"
    catalogue.load_tokenizers()
    assert count(text) == KNOWN["json"]["deepseek_v3"]
    assert catalogue.choose("demo").count_tokens is estimated_tokens
