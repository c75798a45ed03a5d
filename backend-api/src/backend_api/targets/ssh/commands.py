"""A command in a shell of a remote host, and its output."""

from __future__ import annotations

import asyncio
import codecs
import re
from dataclasses import dataclass, field

KEPT_CHARACTERS = 400_000
"""The most characters kept of the beginning of an output, and of its end."""
MOST_BYTES = 64 * 1024 * 1024
"""A command that writes more is killed: nobody reads that."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n])")


@dataclass(slots=True)
class Command:
    """`exit_code` is None while it runs, and if it is unknown."""

    text: str
    exit_code: int | None = None
    cwd: str = ""
    is_finished: bool = False
    is_lost: bool = False
    is_flood: bool = False
    bytes: int = 0
    _head: str = ""
    _tail: str = ""
    _is_cut: bool = False
    _unread: str = ""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"), repr=False
    )

    def feed(self, data: bytes) -> None:
        """Add output."""
        self.bytes += len(data)
        self.is_flood = self.bytes > MOST_BYTES
        text = self._decoder.decode(data)
        room = KEPT_CHARACTERS - len(self._head)
        self._head += text[:room] if room > 0 else ""
        rest = text[max(room, 0) :]
        if rest:
            tail = self._tail + rest
            self._is_cut = self._is_cut or len(tail) > KEPT_CHARACTERS
            self._tail = tail[-KEPT_CHARACTERS:]
        self._unread = (self._unread + text)[-KEPT_CHARACTERS:]
        self._changed.set()

    def finish(self, exit_code: int | None, cwd: str | None = None, *, is_lost: bool = False) -> None:
        """Mark it as ended, or as lost."""
        if self.is_finished:
            return
        self.exit_code, self.is_finished, self.is_lost = exit_code, True, is_lost
        self.cwd = cwd or self.cwd
        self._changed.set()

    def take_unread(self) -> str:
        """Return the output since the last call."""
        text, self._unread = self._unread, ""
        return plain(text)

    async def wait_for_change(self, within_s: float) -> bool:
        """Wait for output or the end; False if nothing came."""
        try:
            async with asyncio.timeout(max(within_s, 0.0)):
                await self._changed.wait()
        except TimeoutError:
            return False
        self._changed.clear()
        return True

    @property
    def output(self) -> str:
        """Beginning and end, as plain text."""
        gap = "\n[... the middle of the output is left out ...]\n" if self._is_cut else ""
        return plain(f"{self._head}{gap}{self._tail}")


def plain(text: str) -> str:
    """The text without escape sequences of terminals; of an overwritten line, its last state."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    return _CONTROLS.sub("", _OVERWRITTEN.sub("", text)).replace("\r", "")
