"""One question for all sessions that are followed, also while the store does not answer it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import pytest

from backend_api.conversations.application.session_heads import SessionHeads
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import SessionId
from support.memory.sessions import MemoryEventLog
from support.memory.store import MemoryStore

SESSIONS = [SessionId(f"s{number}") for number in range(20)]
LONG_S = 60.0


class HangingLog(MemoryEventLog):
    """Every session has as many events as it was asked; while `is_away`, it answers nothing until `gives_up`."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.is_away = True
        self.gives_up = asyncio.Event()
        self.asked: list[list[SessionId]] = []

    async def heads(self, session_ids: Sequence[SessionId]) -> dict[SessionId, int]:
        self.asked.append([*session_ids])
        if self.is_away:
            await self.gives_up.wait()
            raise StoreUnavailableError("away")
        return dict.fromkeys(session_ids, len(self.asked))


@pytest.fixture
def following() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def test_a_store_that_is_away_is_asked_once_for_everybody(following: ExitStack) -> None:
    log = HangingLog()
    heads = SessionHeads(log, LONG_S)
    for session_id in SESSIONS:
        following.enter_context(heads.follow(session_id))
    looks = [asyncio.create_task(heads.look(session_id)) for session_id in SESSIONS]
    await asyncio.sleep(0)
    log.gives_up.set()
    answers = await asyncio.gather(*looks, return_exceptions=True)
    assert {type(answer) for answer in answers} == {StoreUnavailableError}
    assert log.asked == [SESSIONS]
    with pytest.raises(StoreUnavailableError):
        await heads.look(SESSIONS[0])
    assert log.asked == [SESSIONS]


async def test_a_store_that_is_back_is_asked_after_the_time_for_that(following: ExitStack) -> None:
    log = HangingLog()
    log.gives_up.set()
    heads = SessionHeads(log, 0.05)
    following.enter_context(heads.follow(SESSIONS[0]))
    for number in (1, 2):
        with pytest.raises(StoreUnavailableError):
            await heads.look(SESSIONS[0])
        assert len(log.asked) == number
        await asyncio.sleep(0.06)
    log.is_away = False
    assert await heads.look(SESSIONS[0]) == 3


async def test_whoever_gives_up_waiting_has_the_next_one_ask(following: ExitStack) -> None:
    log = HangingLog()
    heads = SessionHeads(log, LONG_S)
    following.enter_context(heads.follow(SESSIONS[0]))
    leaving, staying = (asyncio.create_task(heads.look(SESSIONS[0])) for _ in range(2))
    await asyncio.sleep(0)
    log.is_away = False
    leaving.cancel()
    assert await staying == 2
