"""A table and a block of code as shapes of a slide."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from xml.sax.saxutils import escape

DRAW = "http://schemas.openxmlformats.org/drawingml/2006"
MOST_ROWS, MOST_COLUMNS, MOST_CODE, MOST_SIGNS = 9, 6, 14, 70
POINT = 12_700
LINE_HIGH = 1.9
"""Height of a table row, as a multiple of its font size."""

Area = tuple[int, int, int, int]
"""Left, top, width and height, in the unit of Office's formats."""


def is_rule(line: str) -> bool:
    """Whether it is the line below the head of a table."""
    return bool(re.fullmatch(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*", line)) and "|" in line


def cells_of(line: str, plain: Callable[[str], str]) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [plain(one.strip().replace("\\|", "|")) for one in re.split(r"(?<!\\)\|", inner)]


def sides_in(rule: str) -> list[str]:
    """The alignment of each column, read from the line below the head, by the names Office uses."""
    ends = [(one.startswith(":"), one.endswith(":")) for one in cells_of(rule, str)]
    return ["ctr" if both == (True, True) else "r" if both[1] else "l" for both in ends]


def wide(text: str) -> int:
    """The width of a text in Latin letters: Chinese ones are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def table_shape(number: int, rows: list[list[str]], sides: list[str], area: Area) -> str:
    """A table whose first row is the head; each column is as wide as its content needs."""
    x, y, width, high = area
    columns = max(map(len, rows))
    rows = [[*row, *[""] * (columns - len(row))] for row in rows]
    sides = [*sides, *["l"] * columns][:columns]
    needed = [max(4, *(min(wide(row[at]), 40) for row in rows)) for at in range(columns)]
    widths = [width * one // sum(needed) for one in needed]
    letters = min(18, int(width / sum(needed) / POINT * 1.5), int(high / len(rows) / LINE_HIGH / POINT))
    size = max(letters, 10)
    row_high = int(size * LINE_HIGH * POINT)
    grid = "".join(f'<a:gridCol w="{one}"/>' for one in widths)
    lines = "".join(
        f'<a:tr h="{row_high}">{"".join(_cell(text, size, side, is_head=at == 0) for text, side in zip(row, sides, strict=True))}</a:tr>'
        for at, row in enumerate(rows)
    )
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="{number}" name="Table {number}"/><p:cNvGraphicFramePr/>'
        f'<p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="{x}" y="{y}"/>'
        f'<a:ext cx="{sum(widths)}" cy="{row_high * len(rows)}"/></p:xfrm><a:graphic>'
        f'<a:graphicData uri="{DRAW}/table"><a:tbl><a:tblPr firstRow="1"/><a:tblGrid>{grid}</a:tblGrid>{lines}</a:tbl>'
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )


def _cell(text: str, size: int, side: str, *, is_head: bool) -> str:
    look = f'<a:rPr sz="{size * 100}"{" b=" + chr(34) + "1" + chr(34) if is_head else ""}/>'
    said = f"<a:r>{look}<a:t>{escape(text)}</a:t></a:r>" if text else f'<a:endParaRPr sz="{size * 100}"/>'
    line = '<a:solidFill><a:schemeClr val="accent6"/></a:solidFill>'
    borders = "".join(f'<a:{side} w="0"><a:noFill/></a:{side}>' for side in ("lnL", "lnR", "lnT"))
    fill = '<a:solidFill><a:schemeClr val="bg2"/></a:solidFill>' if is_head else "<a:noFill/>"
    return (
        f'<a:tc><a:txBody><a:bodyPr/><a:lstStyle/><a:p><a:pPr algn="{side}"/>{said}</a:p></a:txBody><a:tcPr anchor="ctr">{borders}'
        f'<a:lnB w="6350">{line}</a:lnB>{fill}</a:tcPr></a:tc>'
    )


def code_shape(number: int, lines: list[str], area: Area) -> str:
    """A block of code in a monospaced font, as large as its lines allow."""
    x, y, width, high = area
    longest = max(map(wide, lines), default=1)
    size = max(10, min(18, int(width / max(longest, 1) / POINT * 1.55), int(high / max(len(lines), 1) / 1.4 / POINT)))
    tall = min(high, int(len(lines) * size * 1.3 * POINT) + 300_000)
    font = '<a:latin typeface="Consolas"/><a:cs typeface="Consolas"/>'
    said = "".join(
        f'<a:p><a:r><a:rPr sz="{size * 100}">{font}</a:rPr><a:t>{escape(line)}</a:t></a:r></a:p>'
        if line
        else f'<a:p><a:endParaRPr sz="{size * 100}"/></a:p>'
        for line in lines
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="Code {number}"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr><p:spPr>'
        f'<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{tall}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/>'
        '</a:prstGeom><a:solidFill><a:schemeClr val="bg2"/></a:solidFill></p:spPr><p:txBody>'
        '<a:bodyPr wrap="square" lIns="144000" tIns="144000" rIns="144000" bIns="144000"><a:normAutofit/></a:bodyPr>'
        f"<a:lstStyle/>{said or '<a:p/>'}</p:txBody></p:sp>"
    )
