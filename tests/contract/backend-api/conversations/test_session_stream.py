"""`SessionStream` on Redis, and its double."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
import redis

from backend_api.agent.events import (
    Event,
    MessageCompleted,
    MessageDelta,
    RunFinished,
    RunStarted,
    ThinkingDelta,
    ToolOutput,
)
from backend_api.conversations.application.event_json import event_fields, event_json
from backend_api.conversations.application.follow_events import live_reader
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.ports import SessionStream
from backend_api.conversations.redis.session_stream import RedisSessionStream
from backend_api.kit.errors import SlowReaderError
from backend_api.kit.ids import SessionId
from backend_api.kit.in_process_notifier import InProcessNotifier
from backend_api.kit.notifier import Notifier
from support.backend_stores import redis_channels
from support.memory.session_stream import MemorySessionStream
from support.servers import Server

RUN = RunId("r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    stream: SessionStream
    notifier: Notifier


@pytest.fixture(params=["memory", "redis"])
async def live(request: pytest.FixtureRequest) -> AsyncGenerator[Channels]:
    if request.param == "memory":
        yield Channels(stream=MemorySessionStream(), notifier=InProcessNotifier())
        return
    server: Server = request.getfixturevalue("redis_server")
    async with redis_channels(server.uri) as opened:
        yield Channels(stream=opened.stream, notifier=opened.notifier)


@pytest.fixture
def session_id() -> SessionId:
    return SessionId(uuid.uuid4().hex)


def delta(offset: int, text: str, message_id: str = "m") -> MessageDelta:
    return MessageDelta(message_id=message_id, offset=offset, text=text)


def stored(session_id: SessionId, seq: int, payload: MessageCompleted | RunFinished | RunStarted) -> Event:
    at = datetime.now(UTC).replace(microsecond=0)
    return Event(seq=seq, at=at, session_id=session_id, run_id=RUN, payload=payload)


def _scripts_called(client: redis.Redis) -> int:
    stats: Any = client.info("commandstats")
    return stats["cmdstat_evalsha"]["calls"]


async def test_every_reader_gets_what_is_published_in_order(live: Channels, session_id: SessionId) -> None:
    done = stored(session_id, 4, MessageCompleted(message_id="m", text="Hey \U0001f600"))
    async with (
        asyncio.timeout(30),
        live_reader(live.stream, session_id) as one,
        live_reader(live.stream, session_id) as two,
    ):
        await live.stream.show(session_id, RUN, delta(0, "Hey "))
        await live.stream.show(session_id, RUN, delta(4, "\U0001f600"))
        await live.stream.append(session_id, [done])
        for reader in (one, two):
            text = ""
            while (event := await anext(reader)).seq is None:
                payload = event.payload
                assert isinstance(payload, MessageDelta)
                text = text[: payload.offset] + payload.text
            assert (text, event) == ("Hey \U0001f600", done)


async def test_who_comes_late_gets_the_text_so_far_once_from_the_start(live: Channels, session_id: SessionId) -> None:
    for offset, text in ((0, "a\U0001f600"), (2, "b"), (3, "c")):
        await live.stream.show(session_id, RUN, delta(offset, text))
    await live.stream.show(session_id, RUN, ThinkingDelta(message_id="m", offset=0, text="hm"))
    async with asyncio.timeout(30), live_reader(live.stream, session_id) as reader:
        first = {type(event.payload): event for event in [await anext(reader), await anext(reader)]}
        assert first[MessageDelta].payload == delta(0, "a\U0001f600bc")
        assert first[ThinkingDelta].payload == ThinkingDelta(message_id="m", offset=0, text="hm")
        await live.stream.show(session_id, RUN, delta(4, "d"))
        assert (await anext(reader)).payload == delta(4, "d")


async def test_who_comes_late_is_told_what_the_model_had_read(
    redis_server: Server, live: Channels, session_id: SessionId
) -> None:
    await live.stream.show(session_id, RUN, MessageDelta(message_id="m", offset=0, text="Hey", seen_seq=7))
    await live.stream.show(session_id, RUN, ThinkingDelta(message_id="t", offset=0, text="hm", seen_seq=7))
    async with asyncio.timeout(30), redis_channels(redis_server.uri) as elsewhere:
        for channels in (live, elsewhere) if isinstance(live.stream, RedisSessionStream) else (live,):
            async with live_reader(channels.stream, session_id) as reader:
                late = [(await anext(reader)).payload for _ in range(2)]
                assert [getattr(payload, "seen_seq", None) for payload in late] == [7, 7]


@pytest.mark.parametrize("call_id", ["call 1 2 x\ny", "呼叫-\U0001f600", "7"])
async def test_a_call_is_followed_whatever_its_provider_calls_it(
    redis_server: Server, live: Channels, session_id: SessionId, call_id: str
) -> None:
    pieces = [ToolOutput(call_id=call_id, offset=offset, text=text) for offset, text in ((0, "1 2 "), (4, "\n3"))]
    for piece in pieces:
        await live.stream.show(session_id, RUN, piece)
    async with asyncio.timeout(30), redis_channels(redis_server.uri) as elsewhere:
        for channels in (live, elsewhere) if isinstance(live.stream, RedisSessionStream) else (live,):
            assert [event.payload for event in await channels.stream.texts(session_id)] == [
                ToolOutput(call_id=call_id, offset=0, text="1 2 \n3")
            ]


@pytest.mark.parametrize("message", [b'[{"seq":2,"type":"of.tomorrow"}]', b'[{"type":"notice"}]', b"no JSON", b"[1]"])
async def test_what_another_version_tells_and_nobody_here_can_read_ends_nothing(
    redis_server: Server, session_id: SessionId, message: bytes
) -> None:
    done = stored(session_id, 3, MessageCompleted(message_id="m", text="Hey"))
    async with (
        asyncio.timeout(5),
        redis_channels(redis_server.uri) as here,
        redis_channels(redis_server.uri) as elsewhere,
        live_reader(elsewhere.stream, session_id) as reader,
    ):
        with redis.Redis.from_url(redis_server.uri) as client:
            client.publish(f"tail:{session_id}", b"another:" + message)
        await here.stream.append(session_id, [done])
        assert await anext(reader) == done


async def test_each_piece_reads_the_same_in_every_process(redis_server: Server, session_id: SessionId) -> None:
    """Its JSON is made once; what is merged of two is neither of them."""
    said = ("Hey \U0001f600", "half \ud83d", 'a "quote"\n')
    async with (
        asyncio.timeout(30),
        redis_channels(redis_server.uri) as here,
        redis_channels(redis_server.uri) as elsewhere,
        live_reader(here.stream, session_id) as near,
        live_reader(elsewhere.stream, session_id) as far,
    ):
        offset, last = 0, b""
        done = stored(session_id, 3, MessageCompleted(message_id="before", text=""))
        await here.stream.append(session_id, [done])
        assert [await anext(near), await anext(far)] == [done, done]
        for text in said:
            await here.stream.show(session_id, RUN, delta(offset, text))
            offset += len(text)
            ours, theirs = await anext(near), await anext(far)
            assert ours.payload == theirs.payload == delta(offset - len(text), text)
            assert event_json(ours) == event_json(theirs) != last
            assert json.loads(last := event_json(theirs)) == event_fields(theirs)
        for text in said:
            await here.stream.show(session_id, RUN, delta(offset, text))
            offset += len(text)
        merged = await anext(near)
        assert merged.payload == delta(offset - len("".join(said)), "".join(said))
        assert json.loads(event_json(merged)) == event_fields(merged)


async def test_a_reader_waits_no_longer_than_it_is_told_and_loses_nothing(
    live: Channels, session_id: SessionId
) -> None:
    done = stored(session_id, 3, MessageCompleted(message_id="before", text=""))
    async with asyncio.timeout(30), live_reader(live.stream, session_id) as reader:
        await live.stream.append(session_id, [done])
        assert await anext(reader) == done
        assert await reader.next_within(0.01) is None
        waiting = asyncio.create_task(reader.next_within(20))
        await asyncio.sleep(0)
        await live.stream.show(session_id, RUN, delta(0, "one"))
        assert (event := await waiting) is not None
        assert event.payload == delta(0, "one")
        waiting = asyncio.create_task(reader.next_within(20))
        await asyncio.sleep(0)
        # The channel was lost and is back.
        reader.restored()
        assert (event := await waiting) is not None
        assert event.payload == delta(0, "one")
        assert await reader.next_within(0.01) is None


async def test_a_text_that_is_stored_is_forgotten(live: Channels, session_id: SessionId) -> None:
    await live.stream.show(session_id, RUN, delta(0, "abc"))
    await live.stream.append(session_id, [stored(session_id, 4, MessageCompleted(message_id="m", text="abc"))])
    await live.stream.show(session_id, RUN, delta(0, "left over", "other"))
    end = stored(session_id, 5, RunFinished(run_id=RUN, status="stopped"))
    await live.stream.append(session_id, [end])
    async with asyncio.timeout(30), live_reader(live.stream, session_id) as reader:
        await live.stream.append(session_id, [end])
        assert await anext(reader) == end


async def test_what_a_dead_worker_was_writing_is_forgotten_when_another_begins_anew(
    live: Channels, session_id: SessionId
) -> None:
    await live.stream.show(session_id, RUN, delta(0, "half an ans"))
    again = stored(session_id, 5, RunStarted(run_id=RUN, message_id="u", model="m", worker="w", attempt=2))
    await live.stream.append(session_id, [again])
    async with asyncio.timeout(30), live_reader(live.stream, session_id) as reader:
        await live.stream.show(session_id, RUN, delta(0, "whole", "new"))
        assert (await anext(reader)).payload == delta(0, "whole", "new")


async def test_what_a_writer_that_lost_its_run_had_begun_is_gone_when_the_run_goes_on_elsewhere(
    redis_server: Server, session_id: SessionId
) -> None:
    """Nobody follows the session in the process that lost the run: it does not hear how the run ends."""
    again = stored(session_id, 5, RunStarted(run_id=RUN, message_id="u", model="m", worker="w", attempt=2))
    async with redis_channels(redis_server.uri) as lost, redis_channels(redis_server.uri) as elsewhere:
        await lost.stream.show(session_id, RUN, delta(0, "half an ans"))
        lost.stream.forget(session_id, ["m:m", "m:none"])
        await elsewhere.stream.append(session_id, [again])
        assert await lost.stream.texts(session_id) == []
        await elsewhere.stream.show(session_id, RUN, delta(0, "whole", "new"))
        for channels in (lost, elsewhere):
            assert [event.payload for event in await channels.stream.texts(session_id)] == [delta(0, "whole", "new")]


async def test_sessions_do_not_hear_each_other(live: Channels, session_id: SessionId) -> None:
    other = SessionId(uuid.uuid4().hex)
    async with asyncio.timeout(30), live_reader(live.stream, session_id) as reader:
        await live.stream.show(other, RUN, delta(0, "not yours"))
        await live.stream.show(session_id, RUN, delta(0, "yours"))
        assert (await anext(reader)).payload == delta(0, "yours")


async def test_a_reader_that_does_not_read_is_let_go(live: Channels, session_id: SessionId) -> None:
    end = stored(session_id, 1, RunFinished(run_id=RUN, status="stopped"))
    async with (
        asyncio.timeout(30),
        live_reader(live.stream, session_id) as slow,
        live_reader(live.stream, session_id) as fast,
    ):
        for _ in range(25):
            await live.stream.append(session_id, [end] * 100)
            for _ in range(100):
                await anext(fast)
        with pytest.raises(SlowReaderError):
            await anext(slow)


async def test_a_reader_of_another_process_gets_the_same_and_nothing_twice(
    redis_server: Server, session_id: SessionId
) -> None:
    async with redis_channels(redis_server.uri) as writer, redis_channels(redis_server.uri) as other:
        await writer.stream.show(session_id, RUN, delta(0, "Hey "))
        async with (
            asyncio.timeout(30),
            live_reader(writer.stream, session_id) as near,
            live_reader(other.stream, session_id) as far,
        ):
            for reader in (near, far):
                assert (await anext(reader)).payload == delta(0, "Hey ")
            await writer.stream.show(session_id, RUN, delta(4, "you"))
            done = stored(session_id, 4, MessageCompleted(message_id="m", text="Hey you"))
            await writer.stream.append(session_id, [done])
            for reader in (near, far):
                assert [(await anext(reader)).payload, await anext(reader)] == [delta(4, "you"), done]


async def test_who_came_while_redis_was_emptied_gets_the_whole_text_with_the_next_piece(
    redis_server: Server, session_id: SessionId
) -> None:
    async with redis_channels(redis_server.uri) as writer, redis_channels(redis_server.uri) as other:
        await writer.stream.show(session_id, RUN, delta(0, "Once upon "))
        with redis.Redis.from_url(redis_server.uri) as client:
            client.flushall()
        async with asyncio.timeout(10), live_reader(other.stream, session_id) as reader:
            seen = ""
            await writer.stream.show(session_id, RUN, delta(10, "a "))
            await writer.stream.show(session_id, RUN, delta(12, "time"))
            while seen != "Once upon a time":
                payload = (await anext(reader)).payload
                assert isinstance(payload, MessageDelta)
                if payload.offset <= len(seen):
                    seen = seen[: payload.offset] + payload.text
            async with live_reader(other.stream, session_id) as late:
                assert (await anext(late)).payload == delta(0, "Once upon a time")


async def test_what_many_runs_show_in_one_moment_is_one_call_and_each_reader_hears_its_own(
    redis_server: Server,
) -> None:
    sessions = [SessionId(uuid.uuid4().hex) for _ in range(20)]
    async with redis_channels(redis_server.uri) as writer, redis_channels(redis_server.uri) as other:
        await writer.stream.show(sessions[0], RUN, delta(0, "begin"))
        with redis.Redis.from_url(redis_server.uri) as client:
            before = _scripts_called(client)
            await asyncio.gather(*(writer.stream.show(one, RUN, delta(0, f"of {one}")) for one in sessions))
            assert _scripts_called(client) == before + 1
        for session_id in sessions:
            async with asyncio.timeout(10), live_reader(other.stream, session_id) as reader:
                assert (await anext(reader)).payload == delta(0, f"of {session_id}")
                await writer.stream.show(session_id, RUN, delta(35, "!"))
                assert (await anext(reader)).payload == delta(35, "!")


async def test_what_gathers_of_a_text_is_one_frame_for_a_reader_that_is_behind(
    redis_server: Server, session_id: SessionId
) -> None:
    async with (
        asyncio.timeout(10),
        redis_channels(redis_server.uri) as live,
        live_reader(live.stream, session_id) as reader,
    ):
        await live.stream.show(session_id, RUN, delta(0, "begin"))
        assert (await anext(reader)).payload == delta(0, "begin")
        for number in range(100):
            await live.stream.show(session_id, RUN, delta(5 + number, "x"))
        await live.stream.show(session_id, RUN, ThinkingDelta(message_id="m", offset=0, text="hm"))
        await live.stream.show(session_id, RUN, delta(105, "end"))
        assert [(await anext(reader)).payload for _ in range(3)] == [
            delta(0, "begin" + "x" * 100),  # the beginning is in the text so far and in what came since
            ThinkingDelta(message_id="m", offset=0, text="hm"),
            delta(105, "end"),
        ]


async def test_a_reader_that_takes_nothing_is_cut_off_and_holds_up_nobody(
    redis_server: Server, session_id: SessionId
) -> None:
    async with redis_channels(redis_server.uri) as live:
        async with (
            asyncio.timeout(20),
            live_reader(live.stream, session_id) as idle,
            live_reader(live.stream, session_id) as awake,
        ):
            for _ in range(50):
                await live.stream.show(session_id, RUN, delta(0, "x" * 100_000))
                assert (await anext(awake)).payload == delta(0, "x" * 100_000)
            with pytest.raises(SlowReaderError):
                await anext(idle)
