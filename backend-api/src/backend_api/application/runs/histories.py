"""What stands in the log of a session, read on from where the last run of this process stood."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from backend_api.domain.agent.events import Event, ToolFinished
from backend_api.domain.agent.history import MAX_RESULT_CHARACTERS, shorten
from backend_api.domain.conversation.entity import Accepted, SessionId
from backend_api.domain.conversation.ports import EventLog

PAGE = 1_000
BODIES_AT_ONCE = 16
KEPT_CHARACTERS = 64_000_000
KEPT_S = 300.0
EVENT_CHARACTERS = 1_000
"""What an event costs beside its text."""


@dataclass(slots=True)
class History:
    """The events of a session from the first on, and the whole outputs of its calls where they are longer than their
    previews. `is_told` when they end with those of an accepted message, whose readers are told of them elsewhere."""

    session_id: SessionId
    events: list[Event] = field(default_factory=list[Event])
    outputs: dict[str, str] = field(default_factory=dict[str, str])
    is_told: bool = False
    _loaded: int = 0
    _is_checked: bool = True

    async def read_on(self, log: EventLog) -> None:
        """Add what stands in the log after the known events."""
        while True:
            after = self.events[-1].seq or 0 if self.events else 0
            back = 0 if self._is_checked else 1
            page = await log.read(self.session_id, after=after - back, limit=PAGE)
            if back and (not page or page[0] != self.events[-1]):
                # The database was killed before what was read had reached its disk: this history never was.
                self.forget()
                continue
            self._is_checked = True
            self.events.extend(page[back:])
            if len(page) < PAGE:
                return

    async def load_outputs(self, log: EventLog) -> None:
        """Add the whole outputs of the calls that are new."""
        new = [event for event in self.events[self._loaded :] if _has_text_beside(event)]
        for start in range(0, len(new), BODIES_AT_ONCE):
            await asyncio.gather(*(self._load(log, event) for event in new[start : start + BODIES_AT_ONCE]))
        self._loaded = len(self.events)

    async def _load(self, log: EventLog, event: Event) -> None:
        body = await log.body(self.session_id, event.seq or 0)
        text = body.content.decode("utf-8", "replace")
        self.outputs[getattr(event.payload, "call_id", "")] = shorten(text, MAX_RESULT_CHARACTERS)

    def join(self, accepted: Accepted) -> None:
        """Add the events of a message that was just accepted, if all before it are known."""
        while self.events and (self.events[-1].seq or 0) >= accepted.seq:
            self.events.pop()
        self.is_told = len(self.events) == accepted.seq - 1
        if self.is_told:
            self.events.extend(accepted.events)

    def rest(self) -> None:
        """Nobody reads it for now: it is compared with the log before it is believed again."""
        self.is_told = self._is_checked = False

    def forget(self) -> None:
        self.events.clear()
        self.outputs.clear()
        self._loaded = 0
        self._is_checked = True

    @property
    def weight(self) -> int:
        """About as many characters as it holds."""
        return sum(map(_weight, self.events)) + sum(map(len, self.outputs.values()))


class Histories:
    """Keeps the histories used last, up to a bound and for a while; each belongs to one run at a time. Only a shortcut:
    it may be empty at any moment, and the log decides."""

    def __init__(
        self,
        at_most: int = KEPT_CHARACTERS,
        *,
        for_s: float = KEPT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._at_most = at_most
        self._for_s = for_s
        self._clock = clock
        self._kept: OrderedDict[SessionId, _Kept] = OrderedDict()
        self._weight = 0

    def take(self, session_id: SessionId) -> History:
        """As far as known here; nobody else gets it until it is kept again."""
        kept = self._kept.pop(session_id, None)
        if kept is None:
            return History(session_id)
        self._weight -= kept.weight
        return kept.history

    def keep(self, history: History) -> None:
        """For the next run."""
        known = self.take(history.session_id)
        if len(known.events) > len(history.events):
            history = known
        history.rest()
        now = self._clock()
        self._kept[history.session_id] = _Kept(history, history.weight, now)
        self._weight += self._kept[history.session_id].weight
        while self._kept and (self._weight > self._at_most or self._eldest.since < now - self._for_s):
            self.take(self._eldest.history.session_id)

    @property
    def _eldest(self) -> _Kept:
        return next(iter(self._kept.values()))


@dataclass(frozen=True, slots=True)
class _Kept:
    history: History
    weight: int
    since: float


def _has_text_beside(event: Event) -> bool:
    payload = event.payload
    return (
        isinstance(payload, ToolFinished) and payload.body is not None and payload.body.media_type.startswith("text/")
    )


def _weight(event: Event) -> int:
    texts: Sequence[object] = [getattr(event.payload, name, None) for name in ("text", "preview", "arguments")]
    return EVENT_CHARACTERS + sum(len(text if isinstance(text, str) else repr(text)) for text in texts if text)
