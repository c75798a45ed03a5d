"""What stands in the log of a session, read on from where the last run of this process stood."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from backend_api.agent.events import Event, PathSelected, RunStarted
from backend_api.agent.path import WHOLE, Path
from backend_api.agent.threads import Threads
from backend_api.conversations.domain.entity import Accepted
from backend_api.conversations.ports import EventLog
from backend_api.kit.ids import SessionId

PAGE = 1_000
PAGE_BYTES = 16_000_000
KEPT_CHARACTERS = 64_000_000
KEPT_S = 300.0
EVENT_CHARACTERS = 1_000
"""What an event costs beside its text."""


@dataclass(slots=True)
class History:
    """The conversations of a session as far as they are read, event by event from the first one of its path on.
    `ends_with_message`: it ends with the events of an accepted message, which its readers get another way."""

    session_id: SessionId
    threads: Threads = field(default_factory=Threads)
    started: Event | None = None
    """The last start of a run."""
    ends_with_message: bool = False
    weight: int = 0
    """About as many characters as it holds."""
    is_committed: bool = False
    """It ends with what this process has stored, and nothing up to there can be lost."""
    is_just_committed: bool = False
    """A moment ago, so that there was nothing else then."""
    path: Path = WHOLE
    """The one they are of. Where another one is selected all of it is read again."""
    _last: Event | None = None
    _is_checked: bool = True

    @property
    def last_seq(self) -> int:
        """The number of the last event read, 0 before the first."""
        return (self._last and self._last.seq) or 0

    async def read_on(self, log: EventLog) -> None:
        """Add what stands in the log after what is known."""
        while True:
            last, back = self._last, 0 if self._is_checked else 1
            page, is_end = await log.read_entries(
                self.session_id, after=self.last_seq - back, limit=PAGE, most=PAGE_BYTES, path=self.path
            )
            if back and (not page or page[0].event != last):
                # The database was restored from a backup: this history never was.
                self._forget()
                continue
            self._is_checked = True
            if any(self._parts(entry.event) for entry in page[back:]):
                self._forget()
                self.path = await log.path(self.session_id)
                continue
            for entry in page[back:]:
                if (entry.event.seq or 0) > self.last_seq:
                    self._add(entry.event, entry.output)
                    self.is_committed = False
            if is_end:
                return

    def join(self, accepted: Accepted) -> None:
        """Add the events of a message that was just accepted, if all before it are known; reading ahead may have met
        them already, and what came after them."""
        if self.last_seq == accepted.seq - 1:
            self._is_checked = self._is_checked or self.is_committed
            self.add_committed(accepted.events)
        last = accepted.events[-1].seq if accepted.events else None
        self.ends_with_message = self._is_checked and last is not None and self.last_seq >= last

    def add_committed(self, events: Sequence[Event], outputs: Sequence[str | None] = ()) -> None:
        """Add what this process has just stored, each event with what the model reads of it, if all before it are
        known."""
        if not events:
            return
        goes_on = self.last_seq == (events[0].seq or 0) - 1 and not any(self._parts(event) for event in events)
        self.is_just_committed = self.is_committed = goes_on
        if self.is_committed:
            for event, output in zip_longest(events, outputs):
                self._add(event, output)

    def mark_idle(self) -> None:
        """Nobody reads it for now: it is compared with the log when it is read on."""
        self.ends_with_message = False
        self._is_checked = self._last is None

    def _parts(self, event: Event) -> bool:
        """Whether another path is selected with it."""
        return isinstance(event.payload, PathSelected) and (event.seq or 0) > self.path.since

    def _add(self, event: Event, output: str | None) -> None:
        if self.path.has(event.seq or 0):
            self.threads.apply(event, output)
        else:
            self.threads.apply_beside(event)
        self._last = event
        if isinstance(event.payload, RunStarted):
            self.started = event
        self.weight += _weight(event) + 2 * len(output or "")

    def _forget(self) -> None:
        self.threads, self.started, self._last, self.path = Threads(), None, None, WHOLE
        self.weight, self._is_checked, self.is_committed = 0, True, False


class Histories:
    """Keeps the histories used last, up to a bound and for a while; each belongs to one run at a time. Only a shortcut:
    it may be empty at any moment. One that ends with what this process stored is used as it is where the next message
    has the next number; any other one is read on from the log first."""

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
        self._entries: OrderedDict[SessionId, _Entry] = OrderedDict()
        self._weight = 0

    def borrow(self, session_id: SessionId) -> History:
        """As far as known here; nobody else gets it until it is kept again."""
        return self._pop(session_id) or History(session_id)

    def keep(self, history: History) -> None:
        """For the next run."""
        known = self._pop(history.session_id)
        if known is not None and known.last_seq > history.last_seq:
            history = known
        history.mark_idle()
        now = self._clock()
        self._entries[history.session_id] = _Entry(history, history.weight, now)
        self._weight += history.weight
        while self._entries and (self._weight > self._at_most or self._oldest.since < now - self._for_s):
            self._pop(self._oldest.history.session_id)

    def add(self, session_id: SessionId, events: Sequence[Event]) -> None:
        """What this process stored of a session that no run of it has: the next message need not read it."""
        kept = self._entries.get(session_id)
        if kept is not None and kept.history.is_committed:
            kept.history.add_committed(events)

    def _pop(self, session_id: SessionId) -> History | None:
        kept = self._entries.pop(session_id, None)
        if kept is None:
            return None
        self._weight -= kept.weight
        return kept.history

    @property
    def _oldest(self) -> _Entry:
        return next(iter(self._entries.values()))


@dataclass(frozen=True, slots=True)
class _Entry:
    history: History
    weight: int
    since: float


def _weight(event: Event) -> int:
    characters = 0
    for name in ("text", "preview", "arguments", "opaque"):
        if text := getattr(event.payload, name, None):
            characters += len(text if isinstance(text, str) else repr(text))
    # Twice: as it was said, and as it was sent.
    return EVENT_CHARACTERS + 2 * characters
