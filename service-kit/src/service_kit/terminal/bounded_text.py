"""Bounded text: the head and the tail of what was written."""

from __future__ import annotations

from collections import deque


class BoundedText:
    """Keeps the first and the last half of `limit` characters, with a marker for what is missing between."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head_limit = limit // 2
        self._tail_limit = limit - self._head_limit
        self._head: list[str] = []
        self._head_size = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._dropped = 0

    def append(self, text: str) -> None:
        room = self._head_limit - self._head_size
        if room > 0:
            self._head.append(text[:room])
            self._head_size += min(room, len(text))
            text = text[room:]
        if not text:
            return
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size > self._tail_limit:
            excess = self._tail_size - self._tail_limit
            first = self._tail.popleft()
            cut = min(excess, len(first))
            if cut < len(first):
                self._tail.appendleft(first[cut:])
            self._tail_size -= cut
            self._dropped += cut

    def copy(self) -> BoundedText:
        """Another one that goes on from the same text."""
        other = BoundedText(self._limit)
        other._head, other._tail = [*self._head], deque(self._tail)
        other._head_size, other._tail_size, other._dropped = self._head_size, self._tail_size, self._dropped
        return other

    def clear(self) -> None:
        """Forget all of it."""
        self._head.clear()
        self._tail.clear()
        self._head_size = self._tail_size = self._dropped = 0

    def text(self) -> str:
        marker = f"\n[... {self._dropped} characters left out ...]\n" if self._dropped else ""
        return "".join(self._head) + marker + "".join(self._tail)
