"""A line of a terminal: text as long as it is written in order, cells once it is written over."""

from __future__ import annotations

from service_kit.terminal.cells import Cells, cells_of, column_after, most_columns, shown, write

MOST_EDITED = 4_000
"""Columns of a line that can still be written over; text written in order may have any number."""
_KEPT = MOST_EDITED // 2


class Line:
    """A line that knows its width, which is counted once for each character and only on demand."""

    __slots__ = ("_cells", "_most", "_text", "_width")

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._most: int = most_columns(text) if text else 0
        self._width: int | None = None if text else 0
        self._cells: Cells | None = None

    @property
    def width(self) -> int:
        """The number of columns."""
        if self._cells is not None:
            return len(self._cells)
        if self._width is None:
            self._width = column_after(0, self._text)
        return self._width

    @property
    def weight(self) -> int:
        """An upper bound of the columns and the characters."""
        return self._most if self._cells is None else max(len(self._cells), sum(map(len, self._cells)))

    @property
    def is_long(self) -> bool:
        """Whether it may have more columns than can be written over."""
        return (self._most if self._cells is None else len(self._cells)) > MOST_EDITED

    @property
    def shown(self) -> str:
        """The visible text of the line."""
        return self._text if self._cells is None else shown(self._cells)

    @property
    def cells(self) -> Cells:
        """The cells, which may be written over."""
        if self._cells is None:
            self._cells = cells_of(self._text)
            self._text = ""
        return self._cells

    def append(self, text: str) -> None:
        """Append text."""
        if self._cells is not None:
            write(self._cells, len(self._cells), text)
            return
        if self._width is not None:
            self._width = column_after(self._width, text)
        self._text += text
        self._most += most_columns(text)

    def take_head(self) -> str:
        """Remove and return all but the end, which can still be written over."""
        if self._cells is not None:
            at = max(0, len(self._cells) - _KEPT)
            while at > 0 and self._cells[at] == "":
                at -= 1
            head = "".join(self._cells[:at])
            del self._cells[:at]
            return head
        text, kept = self._text, self._text[-_KEPT:]
        while most_columns(kept) > MOST_EDITED:
            kept = kept[len(kept) // 2 :]
        self._text, self._most, self._width = kept, most_columns(kept), None
        return text[: len(text) - len(kept)]
