"""The folded log of a session, kept in the process so that the next run reads only what is new."""

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
"""Weight of an event beside its text, in characters."""


@dataclass(slots=True)
class History:
    """The conversations of a session, folded event by event from the first event of the path. `ends_with_message`: it
    ends with the events of an accepted message, which its readers get another way."""

    session_id: SessionId
    threads: Threads = field(default_factory=Threads)
    started: Event | None = None
    """The latest start of a run."""
    ends_with_message: bool = False
    weight: int = 0
    """Approximate size, in characters."""
    is_committed: bool = False
    """Whether it ends with events that this process has stored, so that nothing up to there can be lost."""
    is_just_committed: bool = False
    """Whether it was committed a moment ago, so that nothing else can have been stored since."""
    path: Path = WHOLE
    """The path through the log that was folded. If another path is selected, all of it is read again."""
    _last: Event | None = None
    _is_checked: bool = True

    @property
    def last_seq(self) -> int:
        """The number of the last event read, 0 before the first."""
        return (self._last and self._last.seq) or 0

    async def read_on(self, log: EventLog) -> None:
        """Read the events that the log has after the last one known."""
        while True:
            last, back = self._last, 0 if self._is_checked else 1
            page, is_end = await log.read_entries(
                self.session_id, after=self.last_seq - back, limit=PAGE, most=PAGE_BYTES, path=self.path
            )
            if back and (not page or page[0].event != last):
                # The database was restored from a backup that does not have this history.
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
        """Add the events of a message that was just accepted, if all before it are known; the history may have read
        them from the log already, with later ones."""
        if self.last_seq == accepted.seq - 1:
            self._is_checked = self._is_checked or self.is_committed
            self.add_committed(accepted.events)
        last = accepted.events[-1].seq if accepted.events else None
        self.ends_with_message = self._is_checked and last is not None and self.last_seq >= last

    def add_committed(self, events: Sequence[Event], outputs: Sequence[str | None] = ()) -> None:
        """Add events that this process has just stored, each with the output that the model reads of it, if all before
        them are known."""
        if not events:
            return
        goes_on = self.last_seq == (events[0].seq or 0) - 1 and not any(self._parts(event) for event in events)
        self.is_just_committed = self.is_committed = goes_on
        if self.is_committed:
            for event, output in zip_longest(events, outputs):
                self._add(event, output)

    def mark_idle(self) -> None:
        """Mark the history as unused: it is compared with the log before it is read on."""
        self.ends_with_message = False
        self._is_checked = self._last is None

    def _parts(self, event: Event) -> bool:
        """Whether this event selects another path."""
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
    """Keeps the histories used last, bounded by size and age; each belongs to one run at a time. It is only a cache and
    may be empty at any moment. A history that ends with what this process stored is used as it is if the next message
    has the next number; any other one is brought up to date from the log first."""

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
        """Take a session's history out of the cache, as far as it is known; nobody else gets it until it is kept
        again."""
        return self._pop(session_id) or History(session_id)

    def keep(self, history: History) -> None:
        """Put a history back for the next run."""
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
        """Add events that this process stored while no run has the session's history: the next message need not read
        them."""
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
    # Counted twice: as it stands in the event, and as it is sent to the model.
    return EVENT_CHARACTERS + 2 * characters
