"""The final screen of a program's output: progress that was drawn over and over again as its last state, without
colours. Text that moves no cursor stays as it is, however long its lines are."""

from __future__ import annotations

import re
from collections.abc import Callable

from service_kit.terminal.bounded_text import BoundedText
from service_kit.terminal.grid import COLUMNS, ROWS, Grid

MOST_CHARACTERS = 1_000_000
MAX_HELD = 4096
"""Characters of an unfinished sequence that are held; a longer one is skipped."""
_STRING_STARTS = "]P_^X"
_STRING = "\x1b[\\]P_^X][^\x07\x18\x1a\x1b\n]*"
_UNSEEN = re.compile(
    f"\x1b\\[[0-9;:]*m|{_STRING}(?:\x1b\\\\|[\x07\x18\x1a]|(?=[\n\x1b])|$)"
    "|\x1b[ -/]+[0-~]|\x1b\\[[0-?]*[ -/]+[@-~]|\x07"
)
"""Colours, titles, links, pictures, character sets and bells."""
_UNENDED = re.compile(f"\x1b(?:\\[[0-?]*[ -/]*|[ -/]*)|{_STRING}\x1b?")
_STRING_END = re.compile("\x1b\\\\|[\x07\x18\x1a]|(?=\n)")
_TOKEN = re.compile("[^\x08\r\x1b]+|\r+|\x08+|\x1b\\[([<=>?]?)([0-?]*)([@-~])|\x1b([0-~])|\x1b")
_ALTERNATE = frozenset({"47", "1047", "1049"})
_LARGEST = 99_999

Moves = dict[str, Callable[[Grid, int], object]]
_MOVES: Moves = {
    "A": lambda grid, count: grid.move_by(rows=-count),
    "B": lambda grid, count: grid.move_by(rows=count),
    "C": lambda grid, count: grid.move_by(columns=count),
    "D": lambda grid, count: grid.move_by(columns=-count),
    "E": lambda grid, count: (grid.move_by(rows=count), grid.move_to(column=0)),
    "F": lambda grid, count: (grid.move_by(rows=-count), grid.move_to(column=0)),
    "G": lambda grid, number: grid.move_to(column=number - 1),
    "d": lambda grid, number: grid.move_to(row=number - 1),
    "I": lambda grid, count: grid.move_to(column=(grid.column // 8 + min(count, 20)) * 8),
    "Z": lambda grid, count: grid.move_to(column=max(0, -(-grid.column // 8) - count) * 8),
    "X": Grid.erase_characters,
    "P": Grid.delete_characters,
    "@": Grid.insert_characters,
    "L": Grid.insert_lines,
    "M": Grid.delete_lines,
    "S": Grid.scroll,
    "T": lambda grid, count: grid.scroll(-count),
}
"""Cursor moves by one number, 1 by default."""
_SAME_MOVES = {"`": "G", "a": "C", "e": "B"}
_ERASES: Moves = {"J": Grid.erase_screen, "K": Grid.erase_line}
"""Erasing by one number, 0 by default."""
_PLAIN: dict[str, Callable[[Grid], object]] = {
    "7": Grid.save_cursor,
    "8": Grid.restore_cursor,
    "D": Grid.feed_line,
    "E": Grid.feed_line,
    "M": Grid.feed_line_back,
}


class TerminalScreen:
    """Takes output in pieces cut anywhere; memory and text are bounded by about `limit` characters."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._main = Grid(BoundedText(limit))
        self._full: Grid | None = None
        """The grid of a full-screen program, which gives the screen back at its end."""
        self._raw: BoundedText | None = None
        self._held = ""
        self._is_passing_over = False
        self._last = ""

    @property
    def raw(self) -> str | None:
        """The text as it was written, if the screen shows something else."""
        return self._raw.text() if self._raw is not None else None

    def text(self) -> str:
        """The screen, with all that was scrolled out of it."""
        main = self._main.text()
        if self._full is None or not (full := self._full.text()):
            return main
        return f"{main}\n{full}" if main and not main.endswith("\n") else main + full

    def feed(self, text: str) -> None:
        """Take the next piece of output."""
        if self._raw is None and _is_special(text):
            self._raw = self._main.so_far()
        if self._raw is not None:
            self._raw.append(text)
            text = self._complete(self._held + text)
            text = _without_returns(_UNSEEN.sub("", text))
            if _is_special(text):
                self._draw(text)
                return
        if text:
            self._grid.write(text)
            self._last = text[-1]

    @property
    def _grid(self) -> Grid:
        return self._main if self._full is None else self._full

    def _complete(self, text: str) -> str:
        """The text without a final sequence that may go on in the next piece."""
        self._held = ""
        if self._is_passing_over:
            if (end := _STRING_END.search(text)) is None:
                self._held = "\x1b" if text.endswith("\x1b") else ""
                return ""
            text, self._is_passing_over = text[end.end() :], False
        at = text.rfind("\x1b")
        if at > 0 and text.endswith("\x1b"):
            # The first of the two characters that end a string may have come.
            before = text.rfind("\x1b", 0, at)
            at = before if before >= 0 and _UNENDED.fullmatch(text, before) else at
        if at >= 0 and _UNENDED.fullmatch(text, at):
            if len(text) - at <= MAX_HELD:
                self._held = text[at:]
            elif text[at + 1] in _STRING_STARTS:
                self._is_passing_over = True
                self._held = "\x1b" if text.endswith("\x1b") else ""
            return text[:at]
        if text.endswith("\r"):
            # A line break may follow. Any number of carriage returns is one.
            self._held = "\r"
            return text.rstrip("\r")
        return text

    def _draw(self, text: str) -> None:
        for token in _TOKEN.finditer(text):
            match token[0][0]:
                case "\r":
                    self._grid.move_to(column=0)
                case "\x08":
                    self._grid.move_by(columns=-len(token[0]))
                case "\x1b" if token[3] is not None:
                    self._control(token[1], token[2], token[3])
                case "\x1b":
                    self._escape(token[4])
                case _:
                    self._grid.write(token[0])
                    self._last = token[0][-1]

    def _control(self, private: str, given: str, final: str) -> None:
        grid = self._grid
        if private:
            if private == "?" and final in "hl" and not _ALTERNATE.isdisjoint(given.split(";")):
                self._switch(is_full=final == "h")
            elif private == "?" and final in _ERASES:
                _ERASES[final](grid, _number(given, 0))
            return
        first, _, second = given.partition(";")
        final = _SAME_MOVES.get(final, final)
        if final in _MOVES:
            _MOVES[final](grid, max(_number(first, 1), 1))
        elif final in _ERASES:
            _ERASES[final](grid, _number(first, 0))
        elif final in "Hf":
            grid.move_to(_number(first, 1) - 1, max(_number(second, 1) - 1, 0))
        elif final == "r":
            grid.set_region(_number(first, 1) - 1, (_number(second, ROWS) or ROWS) - 1)
        elif final in "su" and not given:
            _PLAIN["7" if final == "s" else "8"](grid)
        elif final == "b" and self._last not in ("", "\n", "\t"):
            grid.write(self._last * min(_number(first, 1), COLUMNS))

    def _escape(self, final: str | None) -> None:
        if final in _PLAIN:
            _PLAIN[final](self._grid)
        elif final == "c":
            self._full = None
            self._main = Grid(BoundedText(self._limit))

    def _switch(self, *, is_full: bool) -> None:
        if is_full:
            self._full = self._full or Grid(None)
        else:
            self._full = None


def screen_text(text: str) -> str:
    """The text as a terminal shows it."""
    if not _is_special(text):
        return text
    screen = TerminalScreen(max(MOST_CHARACTERS, len(text)))
    screen.feed(text)
    return screen.text()


def _is_special(text: str) -> bool:
    # Four searches for a character each are faster than one for any of them.
    return "\x1b" in text or "\r" in text or "\x08" in text or "\x07" in text


def _without_returns(text: str) -> str:
    """The text without carriage returns before line breaks."""
    if "\r\n" not in text:
        return text
    *ended, last = text.split("\n")
    return "\n".join([*(line.rstrip("\r") for line in ended), last])


def _number(text: str, default: int) -> int:
    digits = text.split(";", 1)[0][:6]
    return min(int(digits), _LARGEST) if digits.isascii() and digits.isdigit() else default
