"""Exactly once, in order, without a gap: whatever the live channel loses, repeats or never says."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from dataclasses import replace

import pytest

from backend_api.agent.events import (
    Event,
    FilesChanged,
    MessageCompleted,
    MessageDelta,
    MessageUser,
    RunStarted,
)
from backend_api.conversations.application.follow_events import FollowEvents
from backend_api.conversations.application.session_heads import SessionHeads
from backend_api.conversations.domain.entity import Claimant, RunId
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.kit.ids import SessionId
from support.backend_stores import ANNA, BERT, ConversationStores, memory_stores
from support.memory.session_stream import MemorySessionStream

RUN = RunId("r")


class Stage:
    """A session with a stream and a reader's view of it."""

    def __init__(self) -> None:
        self.stores: ConversationStores = memory_stores()
        self.stream = MemorySessionStream()
        self.follow = FollowEvents(
            self.stores.sessions, self.stores.log, self.stream, SessionHeads(self.stores.log, 0.0), poll_s=0.01
        )

    async def store(self, session_id: SessionId, count: int = 1) -> list[Event]:
        return await self.stores.log.append(session_id, [FilesChanged(paths=["a"], origin="user")] * count)

    async def collect(self, session_id: SessionId, after: int, count: int) -> list[Event]:
        found: list[Event] = []
        async with asyncio.timeout(30), aclosing(self.follow(session_id, ANNA, after)) as events:
            async for event in events:
                if event is not None:
                    found.append(event)
                if len(found) == count:
                    break
        return found


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_what_was_missed_comes_first_then_what_happens(stage: Stage) -> None:
    session_id = await stage.stores.session()
    await stage.store(session_id, 1200)
    reading = asyncio.create_task(stage.collect(session_id, 3, 1199))
    await asyncio.sleep(0)
    for _ in range(2):
        await stage.stream.append(session_id, await stage.store(session_id))
    assert [event.seq for event in await reading] == list(range(4, 1203))


async def test_a_silent_channel_is_replaced_by_the_log(stage: Stage) -> None:
    session_id = await stage.stores.session()
    stage.stream.is_silent = True
    reading = asyncio.create_task(stage.collect(session_id, 0, 3))
    for _ in range(3):
        await asyncio.sleep(0)
        await stage.stream.append(session_id, await stage.store(session_id))
    assert [event.seq for event in await reading] == [1, 2, 3]


@pytest.mark.parametrize("seed", range(5))
async def test_a_channel_that_loses_repeats_and_reorders_changes_nothing(stage: Stage, seed: int) -> None:
    session_id = await stage.stores.session()
    chance = random.Random(seed)
    reading = asyncio.create_task(stage.collect(session_id, 0, 60))
    kept: list[Event] = []
    for _ in range(60):
        kept += await stage.store(session_id)
        for event in chance.sample(kept, min(len(kept), chance.randint(0, 3))):
            await stage.stream.append(session_id, [event])
        await asyncio.sleep(0)
    assert [event.seq for event in await reading] == list(range(1, 61))


async def test_text_is_neither_doubled_nor_lost_nor_shown_after_it_is_stored(stage: Stage) -> None:
    session_id = await stage.stores.session()
    text = "".join(chr(0x1F600 + n) for n in range(40))
    reading = asyncio.create_task(stage.collect(session_id, 0, 3))
    await asyncio.sleep(0.01)
    for start, end in ((0, 10), (5, 12), (12, 12), (20, 30), (3, 15)):
        piece = MessageDelta(message_id="m", offset=start, text=text[start:end])
        await stage.stream.show(session_id, RUN, piece)
    found = [event.payload for event in await reading]
    assert found == [
        MessageDelta(message_id="m", offset=0, text=text[:10]),
        MessageDelta(message_id="m", offset=10, text=text[10:12]),
        MessageDelta(message_id="m", offset=12, text=text[12:15]),
    ]
    reading = asyncio.create_task(stage.collect(session_id, 0, 2))
    await stage.stores.log.append(session_id, [MessageCompleted(message_id="m", text=text)])
    await stage.stream.show(session_id, RUN, MessageDelta(message_id="m", offset=0, text="late"))
    await stage.store(session_id)
    assert [event.seq for event in await reading] == [1, 2]


async def test_a_text_whose_run_was_taken_over_is_not_gone_on_with(stage: Stage) -> None:
    session_id = await stage.stores.session()
    first = RunStarted(run_id=RUN, message_id=None, model="scripted", worker="w1")
    told: list[object] = []

    async def tell(*payloads: RunStarted | MessageDelta, until: object) -> None:
        for payload in payloads:
            if isinstance(payload, RunStarted):
                await stage.stream.append(session_id, await stage.stores.log.append(session_id, [payload]))
            else:
                await stage.stream.show(session_id, RUN, payload)
        async with asyncio.timeout(10):
            while told[-1:] != [until]:
                event = await anext(events)
                told.extend([] if event is None else [getattr(event.payload, "text", event.seq)])

    async with aclosing(stage.follow(session_id, ANNA, 0)) as events:
        await tell(first, until=1)
        await tell(MessageDelta(message_id="old", offset=0, text="I"), until="I")
        stale = [MessageDelta(message_id="old", offset=at, text=text) for at, text in ((1, " am"), (0, "I am"))]
        here = MessageDelta(message_id="new", offset=0, text="Here")
        await tell(replace(first, worker="w2", attempt=2), *stale, here, until="Here")
    assert told == [1, "I", 2, "Here"]


async def test_a_foreign_session_cannot_be_followed(stage: Stage) -> None:
    session_id = await stage.stores.session()
    with pytest.raises(SessionNotFoundError):
        await anext(stage.follow(session_id, BERT, 0))


async def test_a_text_of_a_run_whose_start_is_still_on_the_way_comes_after_it(stage: Stage) -> None:
    session_id = await stage.stores.session()
    claimant = Claimant(worker="w", lease_s=30, model="m")
    reading = asyncio.create_task(stage.collect(session_id, 0, 4))
    await asyncio.sleep(0)
    accepted = await stage.stores.ledger.accept(
        session_id, ANNA, MessageUser(message_id="u", text="hi"), claimant=claimant
    )
    await stage.stream.show(session_id, accepted.run_id, MessageDelta(message_id="m", offset=0, text="Hey"))
    await stage.stream.append(session_id, accepted.events)
    assert [event.payload.type for event in await reading] == [
        "message.user",
        "run.queued",
        "run.started",
        "message.delta",
    ]


async def test_a_history_of_long_events_comes_whole_though_little_of_it_is_read_at_once(stage: Stage) -> None:
    session_id = await stage.stores.session()
    long = [FilesChanged(paths=["a" * 100_000], origin="user")] * 20
    await stage.stores.log.append(session_id, long)
    stage.stream.is_silent = True
    reading = asyncio.create_task(stage.collect(session_id, 0, 40))
    await asyncio.sleep(0.02)
    await stage.stores.log.append(session_id, long)
    assert [event.seq for event in await reading] == list(range(1, 41))
