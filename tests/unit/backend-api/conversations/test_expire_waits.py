"""Waits that can't be ended keep nobody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from backend_api.agent.waits import Answer
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.conversations.ports import Resolved
from backend_api.kit.background_tasks import background_task
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.in_process_notifier import InProcessNotifier
from backend_api.runs.application.expire_waits import ExpireWaits
from support.memory.session_stream import MemorySessionStream


class Waits:
    """Some of its runs fail, each time in its own way, and so does the first look."""

    def __init__(self, faults: dict[str, Exception]) -> None:
        self._faults = faults
        self._looks = 0
        self.left = [RunId(name) for name in (*faults, "good")]
        self.ended = asyncio.Event()

    async def due(self) -> Sequence[RunId]:
        self._looks += 1
        if self._looks <= 2:
            raise (StoreUnavailableError("Away."), RuntimeError("unforeseen"))[self._looks - 1]
        return list(self.left)

    async def expire(self, run_id: RunId) -> Resolved | None:
        if (fault := self._faults.get(run_id)) is not None:
            raise fault
        self.left.remove(run_id)
        self.ended.set()
        return Resolved(session_id=SessionId("s"), run_id=run_id, is_queued=True, events=[])

    async def answer(self, session_id: SessionId, user_id: UserId, wait_id: str, answer: Answer) -> Resolved:
        raise NotImplementedError


async def test_one_that_cannot_be_ended_keeps_no_others() -> None:
    waits = Waits({"gone": SessionNotFoundError("Gone."), "broken": KeyError("kind"), "large": OverflowError()})
    expiry = ExpireWaits(waits=waits, stream=MemorySessionStream(), notifier=InProcessNotifier(), poll_s=0.01)
    async with background_task(expiry.expire_until_cancelled(), "waits"):
        await asyncio.wait_for(waits.ended.wait(), 5)
    assert waits.left == ["gone", "broken", "large"]
