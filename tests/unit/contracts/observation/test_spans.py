"""Spans: off by default, and each below the one it was begun in."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field

import pytest

from contracts.observation.spans import (
    SILENT,
    SPANS,
    Attribute,
    Kind,
    Span,
    current_trace_id,
    current_traceparent,
    following,
)

REMOTE = f"00-{'a' * 32}-{'b' * 16}-01"


@dataclass(slots=True)
class Kept:
    """A span as a test sees it."""

    name: str
    parent: str | None
    traceparent: str | None
    notes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    error: str | None = None
    is_over: bool = False

    def note(self, name: str, value: Attribute) -> None:
        self.notes[name] = value

    def end(self, error: str | None = None) -> None:
        self.error, self.is_over = error, True

    def beside(self, service: str, name: str, *, at: float, seconds: float) -> None:
        raise NotImplementedError


@dataclass(slots=True)
class Keeping:
    """`Tracer` that keeps spans."""

    trusts_callers: bool = True
    spans: list[Kept] = field(default_factory=list[Kept])

    def start(self, name: str, parent: str | None, kind: Kind, attributes: Mapping[str, Attribute]) -> Span:
        trace = parent.split("-")[1] if parent else "c" * 32
        self.spans.append(Kept(name, parent, f"00-{trace}-{len(self.spans) + 1:016x}-01", dict(attributes)))
        return self.spans[-1]


@pytest.fixture
def tracer() -> Generator[Keeping]:
    SPANS.tracer = keeping = Keeping()
    yield keeping
    SPANS.tracer = None


def test_without_a_tracer_nothing_is_begun() -> None:
    with SPANS.span("run") as span:
        assert span is SILENT
        assert current_traceparent() is None
    assert SPANS.begin("call") is SILENT
    assert SPANS.accept(REMOTE) is None


def test_a_span_is_below_the_one_it_was_begun_in(tracer: Keeping) -> None:
    with SPANS.span("run", parent=REMOTE) as run:
        assert current_trace_id() == "a" * 32
        with SPANS.span("tool") as tool:
            pass
        call = SPANS.begin("call")
    assert current_traceparent() is None
    run_, tool_, call_ = tracer.spans
    assert (run_.parent, tool_.parent, call_.parent) == (REMOTE, run.traceparent, run.traceparent)
    assert tool.traceparent != call.traceparent
    assert [one.is_over for one in tracer.spans] == [True, True, False]


def test_a_fault_is_told_by_its_class_alone(tracer: Keeping) -> None:
    with pytest.raises(ValueError, match="sk-secret"), SPANS.span("run"):
        raise ValueError("sk-secret")
    assert tracer.spans[0].error == "ValueError"


async def test_what_was_cancelled_says_so(tracer: Keeping) -> None:
    async def work() -> None:
        with SPANS.span("run"):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert tracer.spans[0].error == "cancelled"


@pytest.mark.parametrize("sent", [None, "", "garbage", REMOTE[:-1], REMOTE.upper(), f"00-{'0' * 32}-{'b' * 16}-01"])
def test_what_a_caller_sends_must_be_sane(tracer: Keeping, sent: str | None) -> None:
    assert SPANS.accept(sent) is None
    with following(sent) as is_traced:
        assert not is_traced
        assert current_traceparent() is None


def test_a_caller_may_be_believed_or_not(tracer: Keeping) -> None:
    assert SPANS.accept(REMOTE) == REMOTE
    tracer.trusts_callers = False
    assert SPANS.accept(REMOTE) is None
