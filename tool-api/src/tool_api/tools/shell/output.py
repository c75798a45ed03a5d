"""The bytes of a terminal as text."""

from __future__ import annotations

import codecs


class TerminalDecoder:
    """UTF-8 from a terminal up to a sentinel; invalid bytes are replaced, and characters split between two chunks are
    joined.

    With `start`, sentinels of the same length with this prefix are left out: those of former commands may come late.
    """

    def __init__(self, sentinel: bytes, start: bytes | None = None) -> None:
        self._sentinel = sentinel
        self._start = sentinel if start is None else start
        self._held: bytes = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.is_finished = False

    def feed(self, data: bytes) -> str:
        """Text that is certain by now; whatever follows the sentinel is dropped."""
        if self.is_finished:
            return ""
        data, texts = self._held + data, list[str]()
        while (at := data.find(self._start)) >= 0 and len(data) >= (end := at + len(self._sentinel)):
            found = data[at:end]
            if found == self._sentinel:
                self.is_finished = True
                self._held = b""
                return "".join([*texts, self._decoder.decode(data[:at], final=True)])
            texts.append(self._decoder.decode(data[:at]))
            data = data[end:]
        keep = len(data) - at if at >= 0 else self._possible_start(data)
        self._held = data[len(data) - keep :]
        return "".join([*texts, self._decoder.decode(data[: len(data) - keep])])

    def flush(self) -> str:
        """The text held back, once no sentinel will come any more."""
        self.is_finished = True
        held, self._held = self._held, b""
        return self._decoder.decode(held, final=True)

    def _possible_start(self, data: bytes) -> int:
        at = data.rfind(self._start[:1], max(0, len(data) - len(self._start) + 1))
        return len(data) - at if at >= 0 and self._start.startswith(data[at:]) else 0
