"""The last bytes that a terminal's programs wrote, which a viewer that joins is shown first."""

from __future__ import annotations

import re

KEPT_BYTES = 512 * 1024
_SEARCHED_BYTES = 4096
_BOUNDARY = re.compile(rb"[\n\x1b]")
_MODE = re.compile(rb"\x1b\[\?([0-9;]{1,64})([hl])")
_OFF_AT_FIRST = frozenset({b"1", b"47", b"1000", b"1002", b"1003", b"1004", b"1006", b"1047", b"1049", b"2004"})
"""Modes that are off at first: application cursor keys, the alternate screen, mouse and focus reports, bracketed
paste."""
_HIDDEN_CURSOR = b"25"


class Backlog:
    """The last output of a terminal. Bytes are counted from its first. Output is dropped up to a line's end or an
    escape sequence, if one is near; modes that the dropped part switched on are switched on again for viewers."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._data = bytearray()
        self._modes: set[bytes] = set()
        self.start = 0

    @property
    def end(self) -> int:
        """The offset of the next byte."""
        return self.start + len(self._data)

    def append(self, data: bytes) -> None:
        self._data += data
        # Not at each piece, as all that is kept is moved.
        if len(self._data) > 2 * self._kept_bytes:
            self._drop(len(self._data) - self._kept_bytes)

    def read(self, offset: int, most: int) -> bytes:
        """Bytes from an offset on, which is not before `start`."""
        at = offset - self.start
        return bytes(self._data[at : at + most])

    def modes(self) -> str:
        """The escape sequences that bring a cleared screen into the modes in force at `start`."""
        on = "".join(f"\x1b[?{mode.decode()}h" for mode in sorted(self._modes - {_HIDDEN_CURSOR}))
        return on + ("\x1b[?25l" if _HIDDEN_CURSOR in self._modes else "")

    def _drop(self, count: int) -> None:
        found = _BOUNDARY.search(self._data, count, count + _SEARCHED_BYTES)
        if found is not None:
            count = found.end() if found.group() == b"\n" else found.start()
        self._remember_modes(self._data[:count])
        del self._data[:count]
        self.start += count

    def _remember_modes(self, data: bytes | bytearray) -> None:
        for numbers, switch in _MODE.findall(data):
            for mode in numbers.split(b";"):
                is_unusual = (switch == b"l") if mode == _HIDDEN_CURSOR else (switch == b"h")
                if is_unusual and (mode in _OFF_AT_FIRST or mode == _HIDDEN_CURSOR):
                    self._modes.add(mode)
                else:
                    self._modes.discard(mode)
