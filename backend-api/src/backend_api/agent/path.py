"""Which events of a session make up the conversation that is shown. The log keeps all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend_api.agent.events import Event, PathSelected, Payload

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
"""What is told of the session's settings, its computer and its model calls holds on every path."""


@dataclass(frozen=True, slots=True)
class Path:
    """Of the events before the number `since` those in `ranges`, each the first and the last of some, and all from
    there on."""

    ranges: tuple[tuple[int, int], ...] = ()
    since: int = 0

    def has(self, seq: int) -> bool:
        """Whether the event of this number is on it."""
        return seq >= self.since or any(first <= seq <= last for first, last in self.ranges)

    def gaps(self) -> list[tuple[int, int]]:
        """The numbers between that are not on it."""
        gaps: list[tuple[int, int]] = []
        begin = 1
        for first, last in self.ranges:
            if first > begin:
                gaps.append((begin, first - 1))
            begin = last + 1
        if begin < self.since:
            gaps.append((begin, self.since - 1))
        return gaps

    def until(self, last: int) -> list[list[int]]:
        """The ranges of what of it stands up to this number."""
        ranges = [*self.ranges, *([(self.since, last)] if last >= self.since else [])]
        return merged([first, min(end, last)] for first, end in ranges if first <= last)


WHOLE = Path()
"""All of the log, where no other one was ever selected."""


def merged(ranges: Iterable[Sequence[int]]) -> list[list[int]]:
    """Without seams between ranges that touch, and without those that hold nothing."""
    result: list[list[int]] = []
    for first, last in ranges:
        if last < max(first, 1):
            continue
        if result and result[-1][1] >= first - 1:
            result[-1][1] = max(last, result[-1][1])
        else:
            result.append([max(first, 1), last])
    return result


def path_after(event: Event | None) -> Path:
    """As the last `path.selected` of a session tells it."""
    if event is None or not isinstance(event.payload, PathSelected):
        return WHOLE
    return Path(tuple((first, last) for first, last in event.payload.path), event.seq or 0)


def is_beside(payload: Payload) -> bool:
    """Whether it holds on every path."""
    return payload.type in BESIDE_PATHS
