"""The writer of one run into its session's stream: live text in merged pieces, and stored events, in order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

from backend_api.agent.events import ContextUsage, Event, LivePayload, ModelRetry
from backend_api.agent.model import ModelError, NextAttempt
from backend_api.conversations.domain.entity import RunId
from backend_api.conversations.domain.live_text import (
    AGENT_MESSAGE,
    AGENT_THINKING,
    MESSAGE,
    OUTPUT,
    THINKING,
    TextKey,
    agent_text,
    live_text,
    writer_of,
)
from backend_api.conversations.ports import SessionStream
from backend_api.kit import measures
from backend_api.kit.ids import SessionId
from service_kit.wait_limit import WaitLimit

logger = logging.getLogger(__name__)

MERGE_WINDOW_S = 0.016
PUBLISH_DEADLINE_S = 2.0
MAX_WAITING = 1_000
MAX_LIVE_CHARACTERS = 400_000
"""The longest part of a text that is shown live, in characters; the rest is seen when the text is stored."""
PIECES_PER_SECOND = 400
"""A piece costs its process, Redis and the reader's gateway half a millisecond together, whatever its length."""
MAX_WAIT_S = 0.125
TICK_S = 0.025
"""Grid of delayed turns, in seconds: they fall together, so that the pieces of many runs are sent in one call."""


class Throttle:
    """Gives each next piece its turn: few runs never wait for it, and what many write meanwhile is merged into one
    piece each.

    Up to six runs of a process notice nothing, ten show a piece each 25 ms, fifty and more one each 125 ms; without it
    first tokens of a hundred runs wait for seconds behind pieces that no eye could tell apart. A fixed window costs as
    little under load and makes every answer jerky, also alone (bench/RESULTS.md).
    """

    def __init__(self) -> None:
        self._last = 0.0

    def next_turn(self, now: float) -> float:
        """The time at which the caller may show its next piece, at most `MAX_WAIT_S` from now."""
        self._last = min(max(self._last, now) + 1 / PIECES_PER_SECOND, now + MAX_WAIT_S)
        if self._last - now < TICK_S:
            return self._last
        return self._last // TICK_S * TICK_S


THROTTLE = Throttle()
"""The throttle that all runs of this process share."""


@dataclass(slots=True)
class _Piece:
    """Text that waits to be shown; more text that comes while it waits is added to it."""

    key: TextKey
    offset: int
    seen_seq: int
    texts: list[str]

    def payload(self) -> LivePayload:
        return live_text(self.key, self.offset, "".join(self.texts), self.seen_seq)


class RunStream:
    """`LiveOutput`; writers never wait for the channel. The one place that counts offsets, merges and throttles: the
    first piece of text goes at once; the next ones are merged while one is on its way, within 16 ms, and until it is
    the run's turn among those of the process.

    No text is shown while `may_show` returns False: a writer that lost its run must not speak over the next one.
    """

    def __init__(
        self,
        stream: SessionStream,
        session_id: SessionId,
        run_id: RunId,
        *,
        may_show: Callable[[], bool] = lambda: True,
        throttle: Throttle = THROTTLE,
    ) -> None:
        self._stream = stream
        self._throttle = throttle
        self._may_show = may_show
        self._session_id = session_id
        self._run_id = run_id
        self._waiting: deque[_Piece | list[Event]] = deque()
        self._offsets: dict[TextKey, int] = {}
        self._stored_waiting = 0
        self._wake = asyncio.Event()
        self._urgent = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._unshown: set[TextKey] = set()
        """Texts that are next seen when they are stored, because part of what readers have of them was taken back."""
        self._seen_seq = 0
        self._context: ContextUsage | None = None
        self.has_shown = asyncio.Event()
        """Set with the first text delivered."""

    def show_stored(self, events: Sequence[Event]) -> None:
        """Publish stored events, after all text that was queued before."""
        context, self._context = self._context, None
        if context is not None and self._may_show():
            events = [self._live_event(context), *events]
        self._put_urgent(events)

    def show_text(self, message_id: str, text: str) -> None:
        self.append(MESSAGE + message_id, text)

    def show_thinking(self, message_id: str, text: str) -> None:
        self.append(THINKING + message_id, text)

    def show_as_thinking(self, message_id: str, thinking_id: str | None, text: str) -> None:
        self.take_back(MESSAGE + message_id, None if thinking_id is None else THINKING + thinking_id, text)

    def of_agent(self, agent_id: str) -> AgentOutput:
        """The output of an agent beside the main one."""
        return AgentOutput(self, agent_id)

    def take_back(self, key: TextKey, thought: TextKey | None, text: str) -> None:
        """As `show_as_thinking`, for any writer."""
        self._unshown.add(key)
        if thought is not None:
            self.append(thought, text)

    def show_output(self, call_id: str, text: str) -> None:
        self.append(OUTPUT + call_id, text)

    def show_context(self, used: int, size: int) -> None:
        """Publish the context use with the next stored event, as alone it would cost one more Redis command per
        answer."""
        self._context = ContextUsage(used=used, max=size, ratio=round(used / size, 4) if size else 0.0)

    def show_retry(self, error: ModelError, following: NextAttempt) -> None:
        if self._may_show():
            attempt, most, wait_s = following.number, following.most, round(following.wait_s, 1)
            self._put_urgent([self._live_event(ModelRetry(code=error.code, attempt=attempt, most=most, wait_s=wait_s))])

    def open_message(self, seen_seq: int) -> None:
        """Begin another message; the model has read the user's messages up to `seen_seq`."""
        self._seen_seq = seen_seq

    def forget(self) -> None:
        """Drop all live text, as the run goes on elsewhere or not at all."""
        self._stream.forget(self._session_id, self._offsets)

    async def deliver(self) -> None:
        """Publish what is queued, until cancelled."""
        with closing(WaitLimit(PUBLISH_DEADLINE_S)) as publishing:
            await self._deliver_all(publishing)

    async def _deliver_all(self, publishing: WaitLimit) -> None:
        next_text_at = 0.0
        while True:
            if not self._waiting:
                self._idle.set()
                self._wake.clear()
                await self._wake.wait()
            rest = next_text_at - time.monotonic()
            if rest > 0 and not self._stored_waiting:
                await self._throttle_for(rest)
            item = self._waiting.popleft()
            if isinstance(item, list):
                self._stored_waiting -= 1
                await self._deliver(self._stream.append(self._session_id, item), publishing)
                continue
            # Pieces of several agents share one turn: none of them waits for the others.
            pieces = [item]
            while self._waiting and isinstance(following := self._waiting[0], _Piece):
                if any(piece.key == following.key for piece in pieces):
                    break
                pieces.append(following)
                self._waiting.popleft()
            if self._may_show():
                await self._deliver(self._show(pieces), publishing)
            self.has_shown.set()
            now = time.monotonic()
            turn = [self._throttle.next_turn(now) for _ in pieces][-1]
            next_text_at = max(now + MERGE_WINDOW_S, turn)

    async def drain(self, deadline_s: float) -> None:
        """Wait until all is delivered, at most `deadline_s` seconds."""
        try:
            async with asyncio.timeout(deadline_s):
                await self._idle.wait()
        except TimeoutError:
            logger.warning("live delivery was cut at the end of a run", extra={"run_id": self._run_id})

    def append(self, key: TextKey, text: str) -> None:
        """Append to a text, whoever writes it. Offsets are counted in code points."""
        if key in self._unshown:
            return
        offset = self._offsets.get(key, 0)
        self._offsets[key] = offset + len(text)
        if offset + len(text) > MAX_LIVE_CHARACTERS:
            return
        last = self._waiting[-1] if self._waiting else None
        # Mostly one writes alone.
        if last is None or isinstance(last, list):
            waiting = None
        else:
            waiting = last if last.key == key else self._waiting_piece(key)
        if waiting is not None:
            waiting.texts.append(text)
        else:
            self._enqueue(_Piece(key, offset, self._seen_seq, [text]))

    def _waiting_piece(self, key: TextKey) -> _Piece | None:
        """The waiting piece that more of this text can join: other writers may have written after it, the same writer
        may not."""
        writer = ""
        for item in reversed(self._waiting):
            if isinstance(item, list):
                return None
            if item.key == key:
                return item
            writer = writer or writer_of(key)
            if writer_of(item.key) == writer:
                return None
        return None

    def _live_event(self, payload: LivePayload) -> Event:
        at = datetime.now(UTC)
        return Event(seq=None, at=at, session_id=self._session_id, run_id=self._run_id, payload=payload)

    def _put_urgent(self, events: Sequence[Event]) -> None:
        self._stored_waiting += 1
        self._urgent.set()
        self._enqueue(list(events))

    def _enqueue(self, item: _Piece | list[Event]) -> None:
        if len(self._waiting) >= MAX_WAITING:
            dropped = self._waiting.popleft()
            if isinstance(dropped, list):
                self._stored_waiting -= 1
        self._waiting.append(item)
        self._idle.clear()
        self._wake.set()

    async def _throttle_for(self, seconds: float) -> None:
        self._urgent.clear()
        over = asyncio.get_running_loop().call_later(seconds, self._urgent.set)
        try:
            await self._urgent.wait()
        finally:
            over.cancel()

    async def _deliver(self, delivery: Awaitable[None], publishing: WaitLimit) -> None:
        try:
            with publishing:
                await delivery
        except Exception:
            # The live channel may be lost at any moment; readers repair from the log.
            logger.exception("live delivery failed", extra={"run_id": self._run_id, "session_id": self._session_id})

    async def _show(self, pieces: Sequence[_Piece]) -> None:
        payloads = [piece.payload() for piece in pieces]
        for payload in payloads:
            measures.DELTAS.labels(payload.type).inc()
        if len(payloads) == 1:
            await self._stream.show(self._session_id, self._run_id, payloads[0])
        else:
            await asyncio.gather(*(self._stream.show(self._session_id, self._run_id, one) for one in payloads))


class AgentOutput:
    """`LiveOutput` of an agent beside the main one: its text and its thinking, and nothing of the run itself."""

    def __init__(self, stream: RunStream, agent_id: str) -> None:
        self._stream = stream
        self._agent_id = agent_id

    def show_text(self, message_id: str, text: str) -> None:
        self._stream.append(agent_text(AGENT_MESSAGE, message_id, self._agent_id), text)

    def show_thinking(self, message_id: str, text: str) -> None:
        self._stream.append(agent_text(AGENT_THINKING, message_id, self._agent_id), text)

    def show_as_thinking(self, message_id: str, thinking_id: str | None, text: str) -> None:
        thought = None if thinking_id is None else agent_text(AGENT_THINKING, thinking_id, self._agent_id)
        self._stream.take_back(agent_text(AGENT_MESSAGE, message_id, self._agent_id), thought, text)

    def show_context(self, used: int, size: int) -> None:
        del used, size

    def show_retry(self, error: ModelError, following: NextAttempt) -> None:
        del error, following
