"""Date cells of a workbook: the only thing that is read of its styles."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

from openpyxl.styles import numbers
from openpyxl.utils import datetime as serials

from tool_api.documents.formats.trees import Element

_numbers: Any = numbers
_serials: Any = serials
# Formats of dates that have no code in the file: programs of East Asia know them by these numbers.
_EAST_ASIAN = frozenset({*range(27, 37), *range(50, 59)})


class DateStyles:
    def __init__(self, root: Element | None, *, is_from_1904: bool) -> None:
        self._epoch = _serials.MAC_EPOCH if is_from_1904 else _serials.WINDOWS_EPOCH
        self._codes: list[str] = []
        if root is None:
            return
        written = {
            one.get("numFmtId"): str(one.get("formatCode") or "") for one in root.iterfind("{*}numFmts/{*}numFmt")
        }
        for style in root.iterfind("{*}cellXfs/{*}xf"):
            number = str(style.get("numFmtId") or "0")
            self._codes.append(written.get(number) or _usual_code(number))

    def text(self, number: float, style: str | None) -> str | None:
        """The date that a number is in a style, None if the style is no date."""
        at = int(style) if style and style.isdecimal() and len(style) < 10 else 0
        code = self._codes[at] if at < len(self._codes) else ""
        if not code or not _numbers.is_date_format(code):
            return None
        try:
            found = _serials.from_excel(number, self._epoch, timedelta=_numbers.is_timedelta_format(code))
        except (ValueError, OverflowError, TypeError):
            return None
        if isinstance(found, datetime) and found.time() == time():
            return found.date().isoformat()
        return found.isoformat() if isinstance(found, date | time) else str(found)


def _usual_code(number: str) -> str:
    if not number.isdecimal() or len(number) > 9:
        return ""
    return "yyyy-mm-dd" if int(number) in _EAST_ASIAN else str(_numbers.BUILTIN_FORMATS.get(int(number)) or "")
