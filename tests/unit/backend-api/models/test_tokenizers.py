"""Tokens against what independent builds of the vocabularies count: OpenAI's own and two others."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from backend_api.agent.sizes import estimated_tokens, most_tokens
from backend_api.models.catalogue import Catalogue, LlmSettings
from backend_api.models.tokens import tokenizers
from backend_api.models.tokens.token_process import TokenProcess
from backend_api.models.tokens.tokenizers import Tokenizers, vocabulary_of

KNOWN: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "data" / "token_counts.json").read_text(encoding="utf-8")
)
CHINESE = [name for name in KNOWN if name.startswith("chinese")]
MODELS = {"o200k_base": "gpt-5.5", "deepseek_v3": "deepseek-chat", "qwen3": "qwen3:8b"}


@pytest.fixture
async def process() -> AsyncGenerator[TokenProcess]:
    made = TokenProcess()
    yield made
    await made.aclose()


@pytest.fixture
def counted(process: TokenProcess) -> Tokenizers:
    return Tokenizers(process.count)


@pytest.mark.parametrize("vocabulary", MODELS)
async def test_texts_have_the_tokens_that_their_model_counts(counted: Tokenizers, vocabulary: str) -> None:
    count = counted.counter(MODELS[vocabulary])
    for name, one in KNOWN.items():
        assert await count([one["text"]]) == one[vocabulary], name
    assert await count(one["text"] for one in KNOWN.values()) == sum(one[vocabulary] for one in KNOWN.values())


@pytest.mark.parametrize("vocabulary", MODELS)
async def test_long_chinese_is_within_a_few_percent_of_what_its_model_counts(
    counted: Tokenizers, vocabulary: str
) -> None:
    times = 1_000
    for name in CHINESE:
        tokens = await counted.counter(MODELS[vocabulary])([KNOWN[name]["text"] * times])
        assert tokens == pytest.approx(KNOWN[name][vocabulary] * times, rel=0.05), name


@pytest.mark.parametrize("name", CHINESE)
def test_chinese_is_estimated_within_15_percent(name: str) -> None:
    text: str = KNOWN[name]["text"]
    assert estimated_tokens(text) == pytest.approx(KNOWN[name]["o200k_base"], rel=0.15)


@pytest.mark.parametrize("name", KNOWN)
def test_no_text_has_more_tokens_than_the_most_it_can_have(name: str) -> None:
    assert most_tokens(KNOWN[name]["text"]) >= max(KNOWN[name][vocabulary] for vocabulary in MODELS)


class Letters:
    """As many tokens as characters; remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[int] = []

    async def __call__(self, vocabulary: str, texts: Sequence[str]) -> Sequence[int]:
        self.given += map(len, texts)
        return [len(text) for text in texts]


async def test_of_a_long_text_only_pieces_are_counted_and_only_once() -> None:
    letters = Letters()
    count = Tokenizers(letters).counter("gpt-5.5")
    assert await count(["a" * 10_000_000]) == 10_000_000
    assert (len(letters.given), sum(letters.given)) == (8, 8_000)
    assert await count(["a" * 10_000_000, "b"]) == 10_000_001
    assert letters.given[8:] == [1]


async def test_what_was_counted_is_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers, "REMEMBERED", 10)
    letters = Letters()
    count = Tokenizers(letters).counter("gpt-5.5")
    for number in (*range(50), *range(40, 50)):
        assert await count([f"{number:300}"]) == 300
    assert len(letters.given) == 50
    assert await count([f"{0:300}"]) == 300
    assert len(letters.given) == 51


ODD = {
    "empty": "",
    "half a pair": "\ud800 half",
    "one letter": "a" * 1_000_000,
    "spaces": " " * 1_000_000,
    "one character": "中" * 300_000,
    "zeros": "\x00" * 10_000,
    "lines": "\r\n\u2028" * 5_000,
    "a mark": "<|endoftext|>",
    "many halves": "\ud83d" * 9_000,
}


async def test_odd_texts_are_counted_too(counted: Tokenizers) -> None:
    for name, text in ODD.items():
        assert 0 <= await counted.counter("gpt-5.5")([text]) <= most_tokens(text), name
        assert 0 <= estimated_tokens(text) <= most_tokens(text), name


async def test_without_the_package_tokens_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    text = KNOWN["chinese"]["text"]
    assert await Tokenizers(TokenProcess().count).counter("gpt-5.5")([text]) == estimated_tokens(text)


async def test_what_counts_is_there_only_once_it_is_asked_and_ends_with_its_owner() -> None:
    process = TokenProcess()
    assert process.pid is None
    assert await process.count("o200k_base", ["word"]) == [1]
    pid = process.pid
    assert pid is not None
    assert Path(f"/proc/{pid}").exists()
    assert Path(f"/proc/{pid}/environ").read_bytes() == b""
    await process.aclose()
    assert process.pid is None
    assert not Path(f"/proc/{pid}").exists()


async def test_it_ends_by_itself_when_it_is_idle_and_is_started_again() -> None:
    process = TokenProcess(idle_s=0.05)
    assert await process.count("o200k_base", ["word"]) == [1]
    first = process.pid
    async with asyncio.timeout(5):
        while Path(f"/proc/{first}").exists():
            await asyncio.sleep(0.01)
    assert await process.count("o200k_base", ["word word"]) == [2]
    assert process.pid != first
    await process.aclose()


async def test_who_stops_waiting_takes_no_answer_from_the_next_one(process: TokenProcess) -> None:
    assert await process.count("o200k_base", ["word"]) == [1]
    stopped = asyncio.create_task(process.count("o200k_base", ["a b c"] * 64))
    await asyncio.sleep(0)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    assert await process.count("o200k_base", ["word word"]) == [2]


@pytest.mark.parametrize(
    "program",
    [
        "",
        "print('[1, 2]', flush=True)",
        "print('x', flush=True)",
        "print('[' * 100_000)",
        "import time; time.sleep(60)",
    ],
    ids=["ends", "too many", "no JSON", "too long", "silent"],
)
async def test_one_that_fails_is_left_alone_for_a_while_and_tokens_are_estimated(tmp_path: Path, program: str) -> None:
    started = tmp_path / "started"
    file = tmp_path / "program.py"
    file.write_text(f"open({str(started)!r}, 'a').write('x')\n{program}\n")
    process = TokenProcess(file, within_s=0.5)
    assert await process.count("o200k_base", ["word"]) == [None]
    times = len(started.read_text())
    assert await process.count("o200k_base", ["word"]) == [None]
    assert len(started.read_text()) == times <= 2
    assert process.pid is None


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


async def test_every_vocabulary_that_is_named_is_there(process: TokenProcess) -> None:
    for vocabulary in dict(tokenizers.VOCABULARIES).values():
        assert await process.count(vocabulary, ["word"]) != [None], vocabulary


async def test_the_models_on_offer_are_counted_by_their_own_vocabularies() -> None:
    settings = LlmSettings(provider="openai", model="deepseek-chat", openai_base_url="http://127.0.0.1:9/v1")
    text = KNOWN["json"]["text"]
    async with Catalogue(settings) as catalogue:
        assert await catalogue.choose(None).count_tokens([text]) == KNOWN["json"]["deepseek_v3"]
        assert await catalogue.choose("demo").count_tokens([text]) == estimated_tokens(text)
