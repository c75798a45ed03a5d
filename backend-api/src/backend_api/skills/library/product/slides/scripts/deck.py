"""The slides that a Markdown text describes, and checks for too much content on them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from blocks import MOST_CODE, MOST_COLUMNS, MOST_ROWS, MOST_SIGNS, cells_of, is_rule, sides_in, wide
from pictures import Picture, read_picture

INVISIBLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
MOST_POINTS, MOST_WORDS = 6, 14
PICTURE_WIDE, BODY_HIGH = 5_200_000, 4_300_000


@dataclass
class Slide:
    title: str
    lines: list[tuple[int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    picture: tuple[str, Picture] | None = None
    table: list[list[str]] = field(default_factory=list)
    sides: list[str] = field(default_factory=list)
    code: list[str] | None = None

    @property
    def is_full(self) -> bool:
        return bool(self.picture or self.table or self.code is not None)


def parse(text: str, folder: Path) -> list[Slide]:
    slides: list[Slide] = []
    lines = text.replace("\r\n", "\n").split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if slides and line.startswith("```"):
            end = next((one for one in range(at, len(lines)) if lines[one].startswith("```")), len(lines))
            shown_on(slides, "the code").code = [INVISIBLE.sub("", one.expandtabs(4)) for one in lines[at:end]]
            at = end + 1
        elif slides and "|" in line and at < len(lines) and is_rule(lines[at]):
            rows, sides = [cells_of(line, plain)], sides_in(lines[at])
            at += 1
            while at < len(lines) and "|" in lines[at]:
                rows.append(cells_of(lines[at], plain))
                at += 1
            slide = shown_on(slides, "the table")
            slide.table, slide.sides = rows, sides
        elif heading := re.fullmatch(r"#{1,2}\s+(.+?)\s*", line):
            slides.append(Slide(plain(heading[1])))
        elif not line.strip() or line.strip() == "---" or not slides:
            continue
        elif line.strip().lower().startswith("note:"):
            slides[-1].notes.append(plain(line.strip()[5:].strip()))
        elif shown := re.fullmatch(r"\s*!\[([^\]]*)\]\(([^)]*)\)\s*", line):
            if ":" in shown[2]:
                raise ValueError(f"the picture {shown[2]}: it must be a file of the workspace")
            shown_on(slides, f"the picture {shown[2]}").picture = (
                plain(shown[1]),
                read_picture(folder / shown[2].strip(), PICTURE_WIDE, BODY_HIGH),
            )
        elif point := re.fullmatch(r"(\s*)(?:[-*+]|\d+[.)])\s+(.+)", line):
            slides[-1].lines.append((min(len(point[1].expandtabs(4)) // 2, 2), plain(point[2])))
        else:
            slides[-1].lines.append((-1, plain(line.strip())))
    return slides


def shown_on(slides: list[Slide], what: str) -> Slide:
    """The last slide, to hold a picture, table or block of code. Raises ValueError if it has no place for one."""
    if len(slides) == 1 or slides[-1].is_full:
        raise ValueError(
            f"{what} on slide {len(slides)}: one picture, table or block of code a slide, none on the first one"
        )
    return slides[-1]


def plain(text: str) -> str:
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return INVISIBLE.sub("", re.sub(r"\*\*|__|`", "", text))


def crowded(slides: list[Slide]) -> list[str]:
    said: list[str] = []
    for number, slide in enumerate(slides, 1):
        if len(slide.lines) > MOST_POINTS:
            said.append(f"slide {number} ({slide.title}): {len(slide.lines)} points, at most {MOST_POINTS}")
        said += [
            f"slide {number} ({slide.title}): too long: {text[:60]}"
            for _, text in slide.lines
            if len(text.split()) > MOST_WORDS or len(text) > 110
        ]
        rows, code = slide.table, slide.code or []
        if len(rows) > MOST_ROWS or max(map(len, rows), default=0) > MOST_COLUMNS:
            said.append(f"slide {number} ({slide.title}): a table of at most {MOST_ROWS} rows, {MOST_COLUMNS} columns")
        if len(code) > MOST_CODE or max(map(wide, code), default=0) > MOST_SIGNS:
            said.append(f"slide {number} ({slide.title}): code of at most {MOST_CODE} lines, {MOST_SIGNS} signs wide")
    return said
