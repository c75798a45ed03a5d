"""What a sandbox tells of its time is held within the call's own."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import pytest

from backend_api.infrastructure.tool_api.told_spans import MAX_SPANS, tell_spans
from contracts.observation.spans import SILENT, Attribute


@dataclass(slots=True)
class Hearing:
    """A span that keeps what it is told."""

    traceparent: str | None = "00-1-1-01"
    heard: list[tuple[str, float, float]] = field(default_factory=list[tuple[str, float, float]])

    def note(self, name: str, value: Attribute) -> None:
        raise NotImplementedError

    def end(self, error: str | None = None) -> None:
        raise NotImplementedError

    def beside(self, service: str, name: str, *, at: float, seconds: float) -> None:
        self.heard.append((name, at, seconds))


def told(name: str = "tool", start_ms: float = 1.0, duration_ms: float = 10.0) -> dict[str, object]:
    return {"name": name, "start_ms": start_ms, "duration_ms": duration_ms}


def test_it_lies_in_the_middle_of_the_call() -> None:
    span, began = Hearing(), time.time() - 10
    tell_spans([told(start_ms=0, duration_ms=4_000)], span, began)
    ((name, at, seconds),) = span.heard
    assert name == "tool-api tool"
    assert math.isclose(at - began, 3.0, abs_tol=0.5)
    assert seconds == 4.0


def test_no_lie_leads_out_of_the_call() -> None:
    span, began = Hearing(), time.time() - 1
    tell_spans([told(start_ms=9e9, duration_ms=1), told(start_ms=0, duration_ms=9e9)], span, began)
    assert len(span.heard) == 2
    for _, at, seconds in span.heard:
        assert began <= at <= at + seconds <= time.time()


def test_no_more_than_a_few_are_taken() -> None:
    span = Hearing()
    tell_spans([told()] * 100, span, time.time() - 1)
    assert len(span.heard) == MAX_SPANS


@pytest.mark.parametrize(
    "sent",
    [
        "text",
        {"name": "tool"},
        [told(start_ms=-1)],
        [told(duration_ms=math.nan)],
        [told(duration_ms=math.inf)],
        [told(name="Loud <b>")],
        [told(name="x" * 100)],
    ],
)
def test_nonsense_is_dropped(sent: object) -> None:
    span = Hearing()
    tell_spans(sent, span, time.time() - 1)
    assert span.heard == []


def test_nobody_listens_where_nothing_is_traced() -> None:
    tell_spans([told()], SILENT, time.time())
