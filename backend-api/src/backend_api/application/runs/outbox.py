"""Live delivery of one run, in order, beside the work: whoever shows something never waits for the channel."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from backend_api.application import measures
from backend_api.application.runs.pace import PACE, Pace
from backend_api.domain.agent.events import ContextUsage, Event, LivePayload, MessageDelta, ThinkingDelta, ToolOutput
from backend_api.domain.conversation.entity import RunId, SessionId
from backend_api.domain.conversation.ports import LiveTail

logger = logging.getLogger(__name__)

MERGE_WINDOW_S = 0.016
PUBLISH_DEADLINE_S = 2.0
MAX_WAITING = 1_000
MAX_LIVE_CHARACTERS = 400_000
"""Of one text; what is longer is seen when it is stored."""

TextType = type[MessageDelta] | type[ThinkingDelta] | type[ToolOutput]


@dataclass(slots=True)
class _Piece:
    """Text that waits to be shown; what comes while it waits joins it."""

    type: TextType
    id: str
    offset: int
    texts: list[str] = field(default_factory=list[str])

    def payload(self) -> LivePayload:
        text = "".join(self.texts)
        if self.type is ToolOutput:
            return ToolOutput(call_id=self.id, offset=self.offset, text=text)
        if self.type is ThinkingDelta:
            return ThinkingDelta(message_id=self.id, offset=self.offset, text=text)
        return MessageDelta(message_id=self.id, offset=self.offset, text=text)


class Outbox:
    """The first piece of text goes at once; while one is on its way, within 16 ms, and until it is the run's turn among
    those of the process, the next ones are merged.

    Nothing is shown while `may_show` says no: a writer that lost its run must not speak over the next one.
    """

    def __init__(
        self,
        tail: LiveTail,
        session_id: SessionId,
        run_id: RunId,
        *,
        may_show: Callable[[], bool] = lambda: True,
        pace: Pace = PACE,
    ) -> None:
        self._tail = tail
        self._pace = pace
        self._may_show = may_show
        self._session_id = session_id
        self._run_id = run_id
        self._waiting: deque[_Piece | ContextUsage | list[Event]] = deque()
        self._offsets: dict[str, int] = {}
        self._stored_waiting = 0
        self._wake = asyncio.Event()
        self._urgent = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self.has_shown = asyncio.Event()
        """Set with the first text delivered."""

    def stored(self, events: Sequence[Event]) -> None:
        """Tell of stored events, after all text put in before."""
        self._stored_waiting += 1
        self._urgent.set()
        self._put(list(events))

    def text(self, type_: TextType, identifier: str, text: str) -> None:
        """More of a text; offsets are counted here, in code points."""
        offset = self._offsets.get(identifier, 0)
        self._offsets[identifier] = offset + len(text)
        if offset + len(text) > MAX_LIVE_CHARACTERS:
            return
        last = self._waiting[-1] if self._waiting else None
        if isinstance(last, _Piece) and last.id == identifier:
            last.texts.append(text)
        else:
            self._put(_Piece(type_, identifier, offset, [text]))

    def context(self, usage: ContextUsage) -> None:
        self._put(usage)

    async def run(self) -> None:
        """Deliver until cancelled."""
        next_text_at = 0.0
        while True:
            if not self._waiting:
                self._idle.set()
                self._wake.clear()
                await self._wake.wait()
            rest = next_text_at - time.monotonic()
            if rest > 0 and not self._stored_waiting:
                await self._rest(rest)
            item = self._waiting.popleft()
            if isinstance(item, list):
                self._stored_waiting -= 1
            await self._deliver(item)
            if isinstance(item, _Piece):
                self.has_shown.set()
                now = time.monotonic()
                next_text_at = max(now + MERGE_WINDOW_S, self._pace.turn(now))

    async def drain(self, deadline_s: float) -> None:
        """Wait until all is delivered, or the deadline."""
        try:
            async with asyncio.timeout(deadline_s):
                await self._idle.wait()
        except TimeoutError:
            logger.warning("live delivery was cut at the end of a run", extra={"run_id": self._run_id})

    def _put(self, item: _Piece | ContextUsage | list[Event]) -> None:
        if len(self._waiting) >= MAX_WAITING:
            dropped = self._waiting.popleft()
            if isinstance(dropped, list):
                self._stored_waiting -= 1
        self._waiting.append(item)
        self._idle.clear()
        self._wake.set()

    async def _rest(self, seconds: float) -> None:
        self._urgent.clear()
        over = asyncio.get_running_loop().call_later(seconds, self._urgent.set)
        try:
            await self._urgent.wait()
        finally:
            over.cancel()

    async def _deliver(self, item: _Piece | ContextUsage | list[Event]) -> None:
        if not isinstance(item, list) and not self._may_show():
            return
        try:
            async with asyncio.timeout(PUBLISH_DEADLINE_S):
                if isinstance(item, list):
                    await self._tail.publish(self._session_id, item)
                else:
                    payload = item.payload() if isinstance(item, _Piece) else item
                    measures.DELTAS.add(payload.type)
                    await self._tail.publish_delta(self._session_id, self._run_id, payload)
        except Exception:
            # The live channel may be lost at any moment; readers repair from the log.
            logger.exception("live delivery failed", extra={"run_id": self._run_id, "session_id": self._session_id})
