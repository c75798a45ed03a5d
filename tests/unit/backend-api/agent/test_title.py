"""What a model says for a title, and what of it is one."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.model import FinishPart, ModelRequest, Part, TextPart, UserTurn
from backend_api.agent.title import MAX_CHARACTERS, Exchange, TitleWriter, title_from, title_request
from support.scripted import SCRIPTED

EXCHANGE = Exchange(asked="Plan a trip to Kyoto", answered="Here is a plan.")


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("A trip to Kyoto", "A trip to Kyoto"),
        ("  A trip to Kyoto.\n", "A trip to Kyoto"),
        ('"A trip to Kyoto."', "A trip to Kyoto"),
        ("“Trip to Kyoto”", "Trip to Kyoto"),
        ("Title: Trip to Kyoto", "Trip to Kyoto"),
        ('**Title: "Trip to Kyoto"**', "Trip to Kyoto"),
        ("# Trip to Kyoto", "Trip to Kyoto"),
        ("Fix the **md** parser", "Fix the md parser"),
        ("修复**标题**的解析", "修复标题的解析"),
        ("A *small* `parse` fix", "A small parse fix"),
        ("**Trip** to `Kyoto`", "Trip to Kyoto"),
        ('"**Kyoto**: a trip"', "Kyoto: a trip"),
        ("Why 2**3**4 is 8", "Why 2**3**4 is 8"),
        ("Delete *.py and *.js", "Delete *.py and *.js"),
        ("What __init__ does", "What __init__ does"),
        ("A stray ` and a *", "A stray ` and a *"),
        ("标题：《京都旅行计划》", "京都旅行计划"),
        ("京都旅行计划。", "京都旅行计划"),
        ("タイトル：京都の旅", "京都の旅"),
        ("What's new in C#?", "What's new in C#?"),
        ('The "why" and the "how"', 'The "why" and the "how"'),
        ('"Why" or "how"', '"Why" or "how"'),
        ("Wait...", "Wait..."),
        ("Sorry letter to a landlord", "Sorry letter to a landlord"),
        ("Invoices I can't find", "Invoices I can't find"),
        ("Тест производительности 🚀", "Тест производительности 🚀"),
        ("x" * MAX_CHARACTERS, "x" * MAX_CHARACTERS),
    ],
)
def test_a_title_is_taken_out_of_what_models_put_around_it(said: str, title: str) -> None:
    assert title_from(said) == title


@pytest.mark.parametrize(
    "said",
    [
        "",
        " \n ",
        '""',
        "...",
        "🚀",
        "x" * (MAX_CHARACTERS + 1),
        "A trip\nto Kyoto",
        "Here is a title:\n\nTrip to Kyoto",
        "A trip\u2028to Kyoto",
        "Trip \u202eotoyK",
        "Trip\x00to Kyoto",
        "Trip \ud800to Kyoto",
        "\u3164\u115f",
        "I can't help with that",
        "I can’t do this.",
        "I cannot name this",
        "I'm sorry, but no",
        "Sorry, no title",
        "As an AI I have none",
        "Unfortunately there is none",
        "抱歉，我无法为此命名",
        "我无法回答",
        "申し訳ありません",
        "*" * 400 + "Trip" + "*" * 400,
    ],
)
def test_what_is_no_title_is_none(said: str) -> None:
    assert title_from(said) is None


@pytest.mark.parametrize("marks", ['""', "**", "‘’", "# ", "title: ", "`", "*a"])
def test_no_answer_takes_long_to_look_at_whatever_stands_around_it(marks: str) -> None:
    began = time.thread_time()
    assert title_from(marks * 20_000) is None
    assert title_from(f"{marks * 20_000}Trip to Kyoto") is None
    assert time.thread_time() - began < 0.5


async def test_of_an_answer_without_end_only_the_beginning_is_kept() -> None:
    class Endless:
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
            del request
            for _ in range(2_000):
                yield TextPart("x" * 100_000)
            yield FinishPart("stop")

    tracemalloc.start()
    try:
        assert await TitleWriter(model=ResolvedModel(info=SCRIPTED, chat=Endless())).write_title(EXCHANGE) is None
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_title_is_asked_for_without_thinking_and_in_few_tokens() -> None:
    request = title_request(SCRIPTED, EXCHANGE)
    assert (request.thinking, request.max_output_tokens, tuple(request.tools)) == ("off", 100, ())
    always = title_request(replace(SCRIPTED, thinking="always", output_limit=1_000), EXCHANGE)
    assert (always.thinking, always.max_output_tokens) == (None, 1_000)


def test_a_long_exchange_is_cut_for_its_title() -> None:
    (turn,) = title_request(SCRIPTED, Exchange(asked="a" * 100_000, answered="b" * 100_000)).turns
    assert isinstance(turn, UserTurn)
    assert len(turn.text) < 5_000
