"""Bounded text: the head and the tail of an output."""

from __future__ import annotations

from collections import deque

_SMALL_PIECE = 1_000


class BoundedText:
    """Keeps the first and the last half of `limit` characters, with a marker for the missing middle."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head_limit = limit // 2
        self._tail_limit = limit - self._head_limit
        self._head: list[str] = []
        self._head_size = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        """Characters of the tail, including those of its first piece that are left out."""
        self._dropped = 0

    def append(self, text: str) -> None:
        room = self._head_limit - self._head_size
        if room > 0:
            add_piece(self._head, text[:room])
            self._head_size += min(room, len(text))
            text = text[room:]
        if not text:
            return
        if len(text) > self._tail_limit:
            self._dropped += len(text) - self._tail_limit
            text = text[-self._tail_limit :]
        add_piece(self._tail, text)
        self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._dropped += gone

    def copy(self) -> BoundedText:
        """A copy that goes on from the same text."""
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
        over = max(0, self._tail_size - self._tail_limit)
        dropped = self._dropped + over
        marker = f"\n[... {dropped} characters left out ...]\n" if dropped else ""
        return "".join(self._head) + marker + "".join(self._tail)[over:]


def add_piece(pieces: list[str] | deque[str], text: str) -> None:
    """Append a text, joining small pieces: each piece takes more room than its characters."""
    if pieces and len(pieces[-1]) < _SMALL_PIECE:
        pieces[-1] += text
    else:
        pieces.append(text)
