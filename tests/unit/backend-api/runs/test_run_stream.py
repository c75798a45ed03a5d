"""When pieces of text are shown, and what becomes one piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from itertools import pairwise
from typing import cast

import pytest

from backend_api.agent.events import AgentDelta, ContextUsage, Event, LivePayload, MessageDelta, MessageUser, ModelRetry
from backend_api.agent.model import ModelRateLimitError, NextAttempt
from backend_api.conversations.domain.entity import RunId
from backend_api.kit.ids import SessionId
from backend_api.runs.application import run_stream
from backend_api.runs.application.run_stream import (
    MAX_WAIT_S,
    MERGE_WINDOW_S,
    PIECES_PER_SECOND,
    TICK_S,
    RunStream,
    Throttle,
)
from support.stage import RecordingStream, until


@asynccontextmanager
async def stream_of(recording: RecordingStream, name: str, throttle: Throttle) -> AsyncGenerator[RunStream]:
    stream = RunStream(recording, SessionId(name), RunId(name), throttle=throttle)
    running = asyncio.create_task(stream.deliver())
    try:
        yield stream
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def shown(recording: RecordingStream, identifier: str) -> list[tuple[int, str]]:
    deltas = [cast("MessageDelta", one) for _, one in recording.deltas if not isinstance(one, AgentDelta)]
    return [(delta.offset, delta.text) for delta in deltas if delta.message_id == identifier]


def test_few_runs_never_wait_for_their_turn() -> None:
    throttle, now = Throttle(), 100.0
    for _ in range(100):
        assert throttle.next_turn(now) < now + MERGE_WINDOW_S
        now += MERGE_WINDOW_S / 6


def test_many_runs_share_so_many_turns_a_second_and_none_waits_long() -> None:
    throttle, now = Throttle(), 100.0
    turns = [throttle.next_turn(now) for _ in range(40)]
    assert turns == sorted(turns)
    assert now + (40 - 1) / PIECES_PER_SECOND - TICK_S < turns[-1] <= now + 40 / PIECES_PER_SECOND
    assert max(throttle.next_turn(now) for _ in range(1000)) <= now + MAX_WAIT_S
    # Who asks a little later waits for no more than what is left.
    assert throttle.next_turn(now + MAX_WAIT_S) <= now + MAX_WAIT_S + 2 / PIECES_PER_SECOND


def test_turns_that_are_waited_for_fall_together() -> None:
    throttle, now = Throttle(), 100.0
    waited_for = [turn for _ in range(50) if (turn := throttle.next_turn(now)) >= now + TICK_S]
    ticks = sorted(set(waited_for))
    assert len(ticks) <= len(waited_for) / (TICK_S * PIECES_PER_SECOND) + 1
    assert len(ticks) > 1
    assert all(round((later - tick) / TICK_S, 6) == 1 for tick, later in pairwise(ticks))


async def test_the_first_piece_goes_at_once_also_when_many_runs_speak() -> None:
    recording, throttle = RecordingStream(), Throttle()
    now = asyncio.get_running_loop().time()
    for _ in range(1000):
        throttle.next_turn(now)
    async with stream_of(recording, "run", throttle) as stream:
        stream.show_text("m", "first")
        for _ in range(3):
            await asyncio.sleep(0)
        assert shown(recording, "m") == [(0, "first")]


async def test_what_runs_say_until_their_turn_is_one_piece_each_and_nothing_is_lost() -> None:
    recording, throttle = RecordingStream(), Throttle()
    names = [f"m{number}" for number in range(30)]
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(stream_of(recording, name, throttle)) for name in names]
        for name, stream in zip(names, streams, strict=True):
            stream.show_text(name, "first")
        await until(lambda: len(recording.deltas) == 30)
        for name, stream in zip(names, streams, strict=True):
            for word in (" a", " b", " c"):
                stream.show_text(name, word)
        for stream in streams:
            await stream.drain(10.0)
    for name in names:
        assert shown(recording, name) == [(0, "first"), (5, " a b c")]
    began, ended = recording.deltas[29][0], recording.deltas[-1][0]
    assert ended - began > 30 / PIECES_PER_SECOND - 2 * TICK_S


async def test_each_piece_tells_what_the_model_had_read_when_its_message_began() -> None:
    recording = RecordingStream()
    async with stream_of(recording, "run", Throttle()) as stream:
        for seen_seq in (3, 8):
            stream.open_message(seen_seq)
            stream.show_thinking(f"t{seen_seq}", "hm")
            stream.show_text(f"m{seen_seq}", "so")
        await stream.drain(10.0)
    assert [getattr(payload, "seen_seq", 0) for _, payload in recording.deltas] == [3, 3, 8, 8]


async def test_how_full_the_context_is_goes_along_with_what_is_stored_next() -> None:
    recording = RecordingStream()
    async with stream_of(recording, "run", Throttle()) as stream:
        stream.show_context(500, 1_000)
        stream.show_context(700, 1_000)
        stream.show_stored([stored(1)])
        stream.show_stored([stored(2)])
        await stream.drain(10.0)
    assert recording.deltas == []
    assert [(event.seq, event.payload.type) for event in recording.published] == [
        (None, "context.usage"),
        (1, "message.user"),
        (2, "message.user"),
    ]
    assert recording.published[0].payload == ContextUsage(used=700, max=1_000, ratio=0.7)


async def test_that_a_provider_is_waited_for_is_told_at_once_and_not_by_a_writer_that_lost_its_run() -> None:
    for may_show in (True, False):
        recording = RecordingStream()
        stream = RunStream(recording, SessionId("s"), RunId("r"), may_show=lambda told=may_show: told)
        running = asyncio.create_task(stream.deliver())
        following = NextAttempt(number=2, most=4, wait_s=4.04)
        stream.show_retry(ModelRateLimitError("The key k-123 has no room.", may_retry=True), following)
        await stream.drain(10.0)
        running.cancel()
        retry = ModelRetry(code="model_rate_limit", attempt=2, most=4, wait_s=4.0)
        told = [(event.seq, event.run_id, event.payload) for event in recording.published]
        assert told == ([(None, "r", retry)] if may_show else [])


async def test_a_writer_that_lost_its_run_does_not_tell_how_full_the_context_is() -> None:
    recording = RecordingStream()
    stream = RunStream(recording, SessionId("s"), RunId("r"), may_show=lambda: False)
    running = asyncio.create_task(stream.deliver())
    stream.show_context(500, 1_000)
    stream.show_stored([stored(1)])
    await stream.drain(10.0)
    running.cancel()
    assert [event.seq for event in recording.published] == [1]


async def test_text_that_was_thinking_is_shown_as_such_and_what_follows_is_seen_when_it_is_stored() -> None:
    recording = RecordingStream()
    async with stream_of(recording, "run", Throttle()) as stream:
        stream.show_text("m", "Before. ")
        stream.show_text("m", "Hm.")
        stream.show_as_thinking("m", "t", "Hm.")
        stream.show_text("m", "So.")
        await until(lambda: bool(shown(recording, "t")))
        assert shown(recording, "t") == [(0, "Hm.")]
        assert "So." not in "".join(text for _, text in shown(recording, "m"))


async def test_text_that_was_thinking_is_not_shown_where_thinking_is_off() -> None:
    recording = RecordingStream()
    async with stream_of(recording, "run", Throttle()) as stream:
        stream.show_text("m", "Hm.")
        stream.show_as_thinking("m", None, "Hm.")
        stream.show_text("m", "So.")
        await stream.drain(10.0)
    assert [getattr(payload, "text", "") for _, payload in recording.deltas] == ["Hm."]


def stored(seq: int) -> Event:
    payload = MessageUser(message_id=f"m{seq}", text="hi")
    return Event(seq=seq, at=datetime.now(UTC), session_id="s", run_id="r", payload=payload)


class StuckOnce(RecordingStream):
    """Its channel hangs with the first piece."""

    def __init__(self) -> None:
        super().__init__()
        self.hung = asyncio.Event()

    async def show(self, session_id: SessionId, run_id: RunId, payload: LivePayload) -> None:
        if not self.hung.is_set():
            self.hung.set()
            await asyncio.Event().wait()
        await super().show(session_id, run_id, payload)


async def test_a_channel_that_hangs_holds_up_no_later_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_stream, "PUBLISH_DEADLINE_S", 0.05)
    recording = StuckOnce()
    async with stream_of(recording, "one", Throttle()) as stream:
        stream.show_text("one", "lost")
        await recording.hung.wait()
        stream.show_text("one", " told")
        await until(lambda: shown(recording, "one") == [(4, " told")])


async def test_agents_that_write_at_once_have_one_turn_together_and_one_piece_each() -> None:
    recording = RecordingStream()
    names = [f"agent_{number}" for number in range(8)]
    async with stream_of(recording, "run", Throttle()) as stream:
        outputs = [stream.of_agent(name) for name in names]
        stream.show_text("m", "The ")
        await until(lambda: len(recording.deltas) == 1)
        for word in ("a", "b", "c", "d"):
            for name, output in zip(names, outputs, strict=True):
                output.show_text(f"of_{name}", word)
            stream.show_text("m", word)
        await stream.drain(10.0)
    own = [payload for _, payload in recording.deltas if isinstance(payload, AgentDelta)]
    assert {(one.agent_id, one.kind, one.offset, one.text) for one in own} == {
        (name, "text", 0, "abcd") for name in names
    }
    assert shown(recording, "m") == [(0, "The "), (4, "abcd")]
    at = [at for at, payload in recording.deltas if isinstance(payload, AgentDelta)]
    assert max(at) - min(at) < MERGE_WINDOW_S


async def test_what_an_agent_took_back_is_its_thinking() -> None:
    recording = RecordingStream()
    async with stream_of(recording, "run", Throttle()) as stream:
        output = stream.of_agent("agent_1")
        output.show_text("m", "Hm.")
        output.show_as_thinking("m", "t", "Hm.")
        output.show_text("m", "So")
        await stream.drain(10.0)
    said = [(one.message_id, one.kind, one.text) for _, one in recording.deltas if isinstance(one, AgentDelta)]
    assert said == [("m", "text", "Hm."), ("t", "thinking", "Hm.")]
