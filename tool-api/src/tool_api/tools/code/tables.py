"""Reads the first table of an HTML text as cells, as no HTML of a kernel is passed on."""

from __future__ import annotations

from html.parser import HTMLParser

from contracts.tools import CodeTable

MAX_ROWS = 100
MAX_COLUMNS = 30
MAX_CELL = 200
MAX_CAPTION = 200
_MAX_HTML = 500_000


def table_of(html: str) -> CodeTable | None:
    """The table; None if there is none, or one that is too large."""
    if "<table" not in html or len(html) > _MAX_HTML:
        return None
    reader = _Reader()
    reader.feed(html)
    reader.close()
    if not reader.rows:
        return None
    header = max(1, reader.header_rows) if reader.header_rows < len(reader.rows) else reader.header_rows
    columns = [" ".join(filter(None, cells)) for cells in zip(*_pad_rows(reader.rows[:header]), strict=True)]
    rows = _pad_rows([columns, *reader.rows[header:]])
    return CodeTable(columns=rows[0], rows=rows[1:], caption=_squeezed(reader.caption)[:MAX_CAPTION])


def _pad_rows(rows: list[list[str]]) -> list[list[str]]:
    width = max(map(len, rows))
    return [row + [""] * (width - len(row)) for row in rows]


def _squeezed(text: str) -> str:
    return " ".join(text.split())


class _Reader(HTMLParser):
    """Reads the first table; a line of text after it, such as how many rows it has, is its caption."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.header_rows = 0
        self.caption = ""
        self._cell: list[str] | None = None
        self._span = 1
        self._in_head = False
        self._hidden = 0
        self._is_over = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("style", "script"):
            self._hidden += 1
        elif self._is_over:
            return
        elif tag == "thead":
            self._in_head = True
        elif tag == "tr" and len(self.rows) <= MAX_ROWS + self.header_rows:
            self._end_cell()
            self.rows.append([])
            self.header_rows += self._in_head
        elif tag in ("td", "th") and self.rows:
            self._end_cell()
            self._cell, self._span = [], _span(dict(attrs).get("colspan"))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("style", "script"):
            self._hidden = max(0, self._hidden - 1)
        elif tag in ("td", "th", "tr", "table"):
            self._end_cell()
            self._is_over = self._is_over or tag == "table"
        elif tag == "thead":
            self._in_head = False

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if self._cell is not None:
            self._cell.append(data)
        elif self._is_over and len(self.caption) < MAX_CAPTION:
            self.caption += data

    def close(self) -> None:
        super().close()
        self._end_cell()

    def _end_cell(self) -> None:
        if self._cell is None:
            return
        text, self._cell = _squeezed("".join(self._cell))[:MAX_CELL], None
        row = self.rows[-1]
        row += [text, *[""] * (self._span - 1)][: MAX_COLUMNS - len(row)]


def _span(given: str | None) -> int:
    return max(1, min(int(given), MAX_COLUMNS)) if given is not None and given.strip().isdecimal() else 1
