"""The lines of a terminal with its cursor. Lines have no largest width, and those above the screen stay in reach of the
cursor for a while: text written in order is kept unchanged, overwritten text in its last state.

The cursor reaches only the end of a long line, and nothing above it: a terminal would have wrapped that line and
scrolled the rest out. So the cost of a sequence is bounded, however much was written before it."""

from __future__ import annotations

from service_kit.terminal.bounded_text import BoundedText, add_piece
from service_kit.terminal.cells import clear, most_columns, split_at, write
from service_kit.terminal.line import MOST_EDITED, Line

ROWS, COLUMNS = 40, 160
LIVE_LINES = 1_000
"""Lines that the cursor can go back to."""
LIVE_CHARACTERS = 250_000
_KEPT_CHARACTERS = 60_000


class Grid:
    """Lines from the first one that can still change; earlier ones are in `history`. The cursor's column is None at the
    end of its line. A grid without a history, as of a full-screen program, has `ROWS` lines of `COLUMNS` and forgets
    what is scrolled out."""

    def __init__(self, history: BoundedText | None) -> None:
        self._history = history
        self._lines = [Line()]
        self._plain: list[str] = []
        self._plain_size: int = 0
        """Characters after the last line that are not parsed yet."""
        self._written: int = 0
        self._top: int = 0
        self._row: int = 0
        self._column: int | None = None
        self._region: tuple[int, int] | None = None
        self._saved: tuple[int, int] = (0, 0)

    def write(self, text: str) -> None:
        """Write text with line breaks and tabs, and nothing else that moves the cursor."""
        if self._is_in_order:
            self._write_plain(text)
            return
        first, *others = text.split("\n")
        self._put(first)
        for index, line in enumerate(others):
            self.feed_line()
            if self._is_in_order:
                self._write_plain("\n".join(others[index:]))
                return
            self._put(line)

    def text(self) -> str:
        """The lines as they are now."""
        if self._history is None:
            return "\n".join(self._shown_lines()).rstrip("\n")
        return self.so_far().text()

    def so_far(self) -> BoundedText:
        """The text so far, to go on from."""
        # Pending text may go to the history first.
        lines = self._shown_lines()
        whole = self._history.copy() if self._history is not None else BoundedText(LIVE_CHARACTERS)
        whole.append("\n".join(lines))
        return whole

    def _shown_lines(self) -> list[str]:
        self._settle()
        lines = [line.shown for line in self._lines]
        while len(lines) - 1 > self._row and not lines[-1]:
            lines.pop()
        return lines

    # The cursor

    @property
    def column(self) -> int:
        self._settle()
        if self._column is not None:
            return self._column
        return self._width()

    @property
    def screen_row(self) -> int:
        """The row of the cursor on the screen."""
        self._settle()
        return self._row - self._top

    def move_to(self, row: int | None = None, column: int | None = None) -> None:
        """Move to a row of the screen, a column, or both."""
        self._settle()
        column = self.column if column is None else column
        if row is not None:
            self._row = self._top + min(max(row, 0), ROWS - 1)
        self._go_to(column)

    def move_by(self, rows: int = 0, columns: int = 0) -> None:
        """Move up beyond the screen as far as lines can still change, down to the screen's last row."""
        column = self.column
        if rows:
            lowest = max(self._top + ROWS - 1, self._row)
            self._row = min(max(self._row + rows, 0), lowest)
        self._go_to(min(column + columns, max(column, COLUMNS - 1)))

    def feed_line(self) -> None:
        """Move to the beginning of the next line, a new one below the last."""
        self._settle()
        if self._row + 1 < len(self._lines) and self._region is None:
            self._row += 1
            self._place(0)
            return
        self._touch()
        if self._region is not None and self.screen_row == self._region[1]:
            self._scroll_up(1)
        else:
            self._row += 1
            self._touch()
        self._place(0)

    def feed_line_back(self) -> None:
        """Move a row up; at the top of the screen, all lines go down."""
        column = self.column
        top = self._region[0] if self._region is not None else 0
        if self.screen_row == top:
            self.insert_lines(1)
        else:
            self._row = max(0, self._row - 1)
        self._place(column)

    def save_cursor(self) -> None:
        column = self.column
        self._saved = (self.screen_row, column)

    def restore_cursor(self) -> None:
        self.move_to(*self._saved)

    def set_region(self, first: int, last: int) -> None:
        """Set the rows that scroll by themselves; a region of the whole screen is none."""
        self._settle()
        first, last = max(first, 0), min(last, ROWS - 1)
        self._region = (first, last) if first < last and (first, last) != (0, ROWS - 1) else None
        self.move_to(0, 0)

    # Erasing

    def erase_line(self, how: int) -> None:
        """Erase from the cursor to the end (0), from the beginning to the cursor (1), or all (2)."""
        column = self.column
        if self._row < len(self._lines):
            cells = self._lines[self._row].cells
            if how == 1:
                clear(cells, 0, column + 1)
            else:
                clear(cells, column if how == 0 else 0)
        self._place(column)

    def erase_screen(self, how: int) -> None:
        """Erase from the cursor on (0), up to the cursor (1), the screen (2), or what was scrolled out of it (3)."""
        column = self.column
        if how == 3:
            if self._history is not None:
                self._history.clear()
            gone = min(self._top, self._row)
            del self._lines[:gone]
            self._row, self._top = self._row - gone, self._top - gone
        elif how == 0:
            self.erase_line(0)
            del self._lines[self._row + 1 :]
        else:
            above = min(self._row, len(self._lines)) if how == 1 else len(self._lines)
            for row in range(self._top, above):
                self._lines[row] = Line()
            if how == 1:
                self.erase_line(1)
            else:
                del self._lines[max(self._row + 1, 1) :]
        self._place(column)

    def erase_characters(self, count: int) -> None:
        column = self.column
        if self._row < len(self._lines):
            clear(self._lines[self._row].cells, column, column + count)
        self._place(column)

    # Moving what stands there

    def delete_characters(self, count: int) -> None:
        column = self.column
        if self._row < len(self._lines):
            cells = self._lines[self._row].cells
            split_at(cells, column)
            split_at(cells, column + count)
            del cells[column : column + count]
        self._place(column)

    def insert_characters(self, count: int) -> None:
        column = self.column
        if self._row < len(self._lines) and column < len(cells := self._lines[self._row].cells):
            count = min(count, COLUMNS)
            split_at(cells, column)
            cells[column:column] = [" "] * count
            del cells[max(COLUMNS if self._history is None else MOST_EDITED, column) :]
            self._place(column)
            self._count(count)

    def insert_lines(self, count: int) -> None:
        """Insert empty lines before the cursor's; the screen's last ones go."""
        self._settle()
        self._touch()
        last = self._last_row()
        count = max(0, min(count, ROWS, last + 1 - self._row))
        self._lines[self._row : self._row] = [Line() for _ in range(count)]
        del self._lines[last + 1 : last + 1 + count]
        self._place(0)

    def delete_lines(self, count: int) -> None:
        """Delete lines from the cursor's on; those below come up."""
        self._settle()
        last = self._last_row()
        count = max(0, min(count, ROWS, last + 1 - self._row))
        has_more = len(self._lines) > last
        del self._lines[self._row : self._row + count]
        if has_more:
            self._lines[last + 1 - count : last + 1 - count] = [Line() for _ in range(count)]
        self._touch()
        self._place(0)

    def scroll(self, count: int) -> None:
        """Scroll the screen's lines up, or down for a negative count."""
        row, column = self.screen_row, self.column
        first, last = self._region if self._region is not None else (0, ROWS - 1)
        if count < 0:
            self.move_to(first, 0)
            self.insert_lines(-count)
        else:
            self.move_to(last, 0)
            self._touch()
            self._scroll_up(min(count, ROWS))
        self.move_to(row, column)

    def _scroll_up(self, count: int) -> None:
        """Scroll up at the last row of the scrolled region."""
        if self._region is None:
            self._row += count
        elif self._region[0] == 0 and self._history is not None:
            self._lines[self._row + 1 : self._row + 1] = [Line() for _ in range(count)]
            self._row, self._top = self._row + count, self._top + count
        else:
            first, last = self._top + self._region[0], self._top + self._region[1]
            count = min(count, last + 1 - first)
            del self._lines[first : first + count]
            self._lines[last + 1 - count : last + 1 - count] = [Line() for _ in range(count)]
        self._touch()

    def _last_row(self) -> int:
        """The last row of the scrolled region, among the lines."""
        return self._top + (self._region[1] if self._region is not None else ROWS - 1)

    # Bookkeeping

    @property
    def _is_in_order(self) -> bool:
        """Whether the next text is written in order and need not be parsed yet."""
        return self._column is None and self._history is not None and self._region is None

    def _write_plain(self, text: str) -> None:
        add_piece(self._plain, text)
        self._plain_size += len(text)
        if self._plain_size > LIVE_CHARACTERS:
            self._shed()

    def _put(self, text: str) -> None:
        """Put text without line breaks. The part beyond the end of the last line is in order again."""
        if self._history is None:
            self._put_wrapped(text)
            return
        for at in range(0, len(text), MOST_EDITED):
            if self._is_in_order:
                self._write_plain(text[at:])
                return
            self._put_over(text[at : at + MOST_EDITED])

    def _put_over(self, text: str) -> None:
        column = self.column
        if self._row >= len(self._lines):
            self._touch()
        self._place(write(self._lines[self._row].cells, column, text))
        self._count(most_columns(text))

    def _put_wrapped(self, text: str) -> None:
        column, at = self.column, 0
        if self._row >= len(self._lines):
            self._touch()
        while at < len(text):
            if column >= COLUMNS:
                self.feed_line()
                column = 0
            piece = text[at : at + COLUMNS - column]
            at += len(piece)
            column = write(self._lines[self._row].cells, column, piece)
        self._place(column)

    def _width(self) -> int:
        """The width of the cursor's line."""
        return self._lines[self._row].width if self._row < len(self._lines) else 0

    def _go_to(self, column: int) -> None:
        """Go to a column that is on the screen, or of the line."""
        self._place(column if column < COLUMNS else min(column, max(self._width(), COLUMNS - 1)))

    def _place(self, column: int) -> None:
        """Place the cursor in a column; at the end of the last line, further text is plain again."""
        self._column = max(0, column)
        if self._row >= len(self._lines):
            return
        line = self._lines[self._row]
        if line.is_long and self._history is not None:
            width = line.width
            self._take_head(self._row)
            self._column = max(0, self._column - width + line.width)
        if self._row == len(self._lines) - 1 and self._column == line.width:
            self._column = None

    def _touch(self) -> None:
        """Add lines up to the cursor's row, and keep the screen at the last rows."""
        while len(self._lines) <= self._row:
            self._lines.append(Line())
        over = len(self._lines) - ROWS - self._top
        if over > 0:
            if self._history is not None:
                self._top += over
            else:
                del self._lines[:over]
                self._row = max(0, self._row - over)
        if len(self._lines) > LIVE_LINES:
            self._freeze(min(len(self._lines) - LIVE_LINES // 2, self._row, self._top))

    def _settle(self) -> None:
        """Parse the pending text into lines."""
        if not self._plain:
            return
        text = "".join(self._plain)
        self._plain, self._plain_size = [], 0
        first, *others = text.split("\n")
        count = len(self._lines)
        self._lines[-1].append(first)
        self._lines += map(Line, others)
        self._row, self._column = len(self._lines) - 1, None
        for row in range(self._row, count - 2, -1):
            if self._lines[row].is_long:
                self._take_head(row)
                break
        self._touch()
        self._count(most_columns(text))

    def _shed(self) -> None:
        """Move most of the pending text to the history."""
        assert self._history is not None
        text = "".join(self._plain)
        at = text.rfind("\n", 0, len(text) - _KEPT_CHARACTERS) + 1 or len(text) - _KEPT_CHARACTERS
        self._plain, self._plain_size = [], 0
        self._history.append("\n".join(self._shown_lines()))
        self._history.append(text[:at])
        self._lines, self._row, self._top, self._column = [Line()], 0, 0, None
        self._plain, self._plain_size = [text[at:]], len(text) - at

    def _count(self, size: int) -> None:
        """Count written characters; if there are too many, the first lines can't change any more."""
        self._written += size
        if self._written <= LIVE_CHARACTERS:
            return
        weights = [line.weight for line in self._lines]
        total, count = sum(weights), 0
        while total > LIVE_CHARACTERS // 2 and count < len(weights) - 1:
            total -= weights[count]
            count += 1
        self._freeze(count)
        self._written = total

    def _freeze(self, count: int) -> None:
        """Freeze the first lines: they can't change any more."""
        if self._history is None or count <= 0:
            return
        self._history.append("\n".join([*(line.shown for line in self._lines[:count]), ""]))
        self._drop(count)

    def _take_head(self, row: int) -> None:
        """Freeze the lines before a long one, and most of that line."""
        assert self._history is not None
        before = [line.shown for line in self._lines[:row]]
        self._history.append("\n".join([*before, self._lines[row].take_head()]))
        self._drop(row)

    def _drop(self, count: int) -> None:
        if count > self._row:
            self._column = 0
        del self._lines[:count]
        self._row, self._top = max(0, self._row - count), max(0, self._top - count)
