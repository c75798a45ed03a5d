from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest

from backend_api.agent.events import Usage
from backend_api.agent.model import (
    FinishPart,
    ModelAuthError,
    ModelError,
    ModelRateLimitError,
    ModelRequest,
    ModelUnavailableError,
    NextAttempt,
    Part,
    TextPart,
    UsagePart,
)
from backend_api.agent.phrase import render_phrase
from backend_api.agent.usage import add_usage, combine
from backend_api.models.wire.calls import ModelCalls, RetryPolicy
from support.scripted import ScriptedModel

REQUEST = ModelRequest(model="m", system="", turns=[], tools=[], max_output_tokens=1)
BUSY = ModelUnavailableError("busy", may_retry=True)


async def ask(model: ScriptedModel, sleeps: list[float], request: ModelRequest = REQUEST, **policy: Any) -> list[Part]:
    async def sleep(seconds: float) -> None:
        sleeps.append(seconds)

    retrying = ModelCalls(model, "test", RetryPolicy(**policy), sleep=sleep, jitter=lambda: 0.5)
    async with aclosing(retrying.stream(request)) as parts:
        return [part async for part in parts]


async def test_delays_double_with_jitter_up_to_the_longest() -> None:
    sleeps: list[float] = []
    with pytest.raises(ModelUnavailableError):
        await ask(ScriptedModel([BUSY]), sleeps, max_retries=4, max_delay_s=5.0)
    assert sleeps == [1.5, 2.5, 4.5, 5.0]


async def test_retry_after_is_honoured() -> None:
    sleeps: list[float] = []
    limited = ModelRateLimitError("slow", may_retry=True, retry_after_s=42)
    parts = await ask(ScriptedModel([limited], [TextPart("ok"), FinishPart("stop")]), sleeps)
    assert sleeps == [42]
    assert parts[0] == TextPart("ok")


async def test_who_asks_is_told_of_a_failed_attempt_before_the_wait() -> None:
    sleeps: list[float] = []
    told: list[tuple[ModelError, NextAttempt, int]] = []

    def tell(error: ModelError, following: NextAttempt) -> None:
        told.append((error, following, len(sleeps)))

    request = replace(REQUEST, on_failed_attempt=tell)
    limited = ModelRateLimitError("slow", may_retry=True, retry_after_s=4)
    await ask(ScriptedModel([limited], [BUSY], [TextPart("ok"), FinishPart("stop")]), sleeps, request=request)
    assert told == [
        (limited, NextAttempt(number=2, most=4, wait_s=4), 0),
        (BUSY, NextAttempt(number=3, most=4, wait_s=2.5), 1),
    ]


async def test_a_wait_of_hours_is_not_waited() -> None:
    sleeps: list[float] = []
    with pytest.raises(ModelRateLimitError):
        await ask(ScriptedModel([ModelRateLimitError("slow", may_retry=True, retry_after_s=7_200)]), sleeps)
    assert sleeps == []


async def test_nothing_is_retried_after_the_first_part_nor_what_will_not_pass() -> None:
    for script in ([TextPart("so"), BUSY], [ModelAuthError("no")]):
        sleeps: list[float] = []
        with pytest.raises((ModelUnavailableError, ModelAuthError)):
            await ask(ScriptedModel(script), sleeps)
        assert sleeps == []


async def test_it_is_asked_again_as_long_as_nothing_of_it_was_shown() -> None:
    sleeps: list[float] = []
    used = UsagePart(Usage(input=1))
    parts = await ask(ScriptedModel([used, BUSY], [used, TextPart("ok"), FinishPart("stop")]), sleeps)
    assert (sleeps, parts[-2]) == ([1.5], TextPart("ok"))


async def test_a_request_that_is_not_to_be_made_again_is_made_once() -> None:
    sleeps: list[float] = []
    with pytest.raises(ModelUnavailableError):
        await ask(ScriptedModel([BUSY]), sleeps, request=replace(REQUEST, is_retried=False))
    assert sleeps == []


def test_usage_adds_up_by_model() -> None:
    total = add_usage(Usage(), Usage(input=1, output=2, cost=0.5), "a")
    total = add_usage(total, Usage(input=10, output=20), "b")
    total = combine(total, total)
    assert (total.input, total.output, total.known_cost) == (22, 44, 1.0)
    assert total.by_model["b"] == {"input": 20, "cached": 0, "output": 40, "thinking": 0, "cache_write": 0}


def test_a_cost_is_known_only_where_that_of_each_call_is() -> None:
    priced = add_usage(Usage(), Usage(input=1, cost=0.1), "a")
    free = add_usage(Usage(), Usage(input=1, cost=0.0), "local")
    unknown = add_usage(Usage(), Usage(input=1), "b")
    stored_before_prices = Usage(input=1, by_model={"a": {"input": 1}})
    for parts, cost, known in (
        ([], None, 0.0),
        ([priced, priced, priced], 0.3, 0.3),
        ([Usage(), priced, Usage()], 0.1, 0.1),
        ([free], 0.0, 0.0),
        ([priced, unknown, priced], None, 0.2),
        ([unknown, priced], None, 0.1),
        ([stored_before_prices, priced], None, 0.1),
    ):
        total = reduce(combine, parts, Usage())
        assert (total.cost, total.known_cost) == (cost, known)


def test_a_call_that_told_no_tokens_leaves_the_cost_unknown() -> None:
    total = add_usage(add_usage(Usage(), Usage(input=1, cost=0.1), "a"), Usage(), "a")
    assert (total.cost, total.known_cost) == (None, 0.1)


@pytest.mark.parametrize(
    ("template", "arguments", "phrase"),
    [
        ("Running {command}", {"command": "ls -la"}, "Running ls -la"),
        ("Running {command}", {}, "Running"),
        ("Running {command}", {"command": "a\n  b\tc"}, "Running a b c"),
        ("Moving {a} to {b}", {"a": 1, "b": None}, "Moving 1 to"),
        ("{a.__class__} {a[0]} {}", {"a": "x"}, "{a.__class__} {a[0]} {}"),
        ("Saying {a}", {"a": "{b}", "b": "secret"}, "Saying {b}"),
    ],
)
def test_a_phrase_is_rendered_safely(template: str, arguments: dict[str, Any], phrase: str) -> None:
    assert render_phrase(template, arguments) == phrase


def test_a_phrase_is_short() -> None:
    phrase = render_phrase("Writing {content}", {"content": "x" * 1_000_000})
    assert len(phrase) == len("Writing ") + 80
    assert phrase.endswith("…")
