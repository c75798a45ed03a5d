"""The events of a session that make up the conversation shown. The log keeps all events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend_api.agent.events import Event, PathSelected

BESIDE_PATHS: frozenset[str] = frozenset(
    {
        "session.updated",
        "sandbox.updated",
        "control.taken",
        "control.returned",
        "background.started",
        "background.finished",
        "port.opened",
        "port.closed",
        "resources.updated",
        "queue.updated",
        "mcp.updated",
        "llm.request",
        "llm.response",
    }
)
"""Event types that hold on every path: of the session's settings, its computer and its model calls."""


@dataclass(frozen=True, slots=True)
class Path:
    """A selection of events: those in `ranges` (first and last number of each) before the number `since`, and all from
    there on, but for messages that were taken back (`withdrawn`)."""

    ranges: tuple[tuple[int, int], ...] = ()
    since: int = 0
    withdrawn: frozenset[int] = frozenset()

    def has(self, seq: int) -> bool:
        """Whether the event of this number is on it."""
        if seq in self.withdrawn:
            return False
        return seq >= self.since or any(first <= seq <= last for first, last in self.ranges)

    def gaps(self) -> list[tuple[int, int]]:
        """The ranges of numbers in between that are not on it."""
        gaps: list[tuple[int, int]] = []
        begin = 1
        for first, last in self.ranges:
            if first > begin:
                gaps.append((begin, first - 1))
            begin = last + 1
        if begin < self.since:
            gaps.append((begin, self.since - 1))
        return gaps + [(seq, seq) for seq in sorted(self.withdrawn)]

    def until(self, last: int) -> list[list[int]]:
        """The ranges of its events up to this number."""
        ranges = [*self.ranges, *([(self.since, last)] if last >= self.since else [])]
        return without(merged([first, min(end, last)] for first, end in ranges if first <= last), self.withdrawn)


WHOLE = Path()
"""The whole log, if no other path was ever selected."""


def merged(ranges: Iterable[Sequence[int]]) -> list[list[int]]:
    """The ranges with adjacent ones joined and empty ones removed."""
    result: list[list[int]] = []
    for first, last in ranges:
        if last < max(first, 1):
            continue
        if result and result[-1][1] >= first - 1:
            result[-1][1] = max(last, result[-1][1])
        else:
            result.append([max(first, 1), last])
    return result


def without(ranges: Sequence[Sequence[int]], numbers: Iterable[int]) -> list[list[int]]:
    """The ranges without these numbers."""
    left = [list(one) for one in ranges]
    for seq in numbers:
        left = merged(
            part for first, last in left for part in ((first, min(last, seq - 1)), (max(first, seq + 1), last))
        )
    return left


def path_after(event: Event | None, withdrawn: frozenset[int] = frozenset()) -> Path:
    """The path that the last `path.selected` of a session defines, without the messages that were taken back."""
    if event is None or not isinstance(event.payload, PathSelected):
        return Path(withdrawn=withdrawn) if withdrawn else WHOLE
    return Path(tuple((first, last) for first, last in event.payload.path), event.seq or 0, withdrawn)
