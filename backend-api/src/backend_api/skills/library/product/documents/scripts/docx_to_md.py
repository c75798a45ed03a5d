"""The text of a Word document as Markdown, with the standard library alone."""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MOST_BYTES = 100 * 1024 * 1024


def text_of(paragraph: ElementTree.Element) -> str:
    parts: list[str] = []
    for run in paragraph.iter(f"{WORD}r"):
        text = "".join(
            "\t" if one.tag == f"{WORD}tab" else "\n" if one.tag == f"{WORD}br" else one.text or ""
            for one in run
            if one.tag in (f"{WORD}t", f"{WORD}tab", f"{WORD}br")
        )
        look = run.find(f"{WORD}rPr")
        for name, mark in (("b", "**"), ("i", "*")):
            found = look.find(f"{WORD}{name}") if look is not None else None
            if text.strip() and found is not None and found.get(f"{WORD}val") not in ("0", "false"):
                text = f"{mark}{text}{mark}"
        parts.append(text)
    return "".join(parts).replace("****", "")


def line_of(paragraph: ElementTree.Element) -> str:
    text = text_of(paragraph)
    properties = paragraph.find(f"{WORD}pPr")
    if properties is None:
        return text
    style = properties.find(f"{WORD}pStyle")
    name = "" if style is None else style.get(f"{WORD}val") or ""
    if heading := re.fullmatch(r"(?:Heading|berschrift|Überschrift)(\d)", name):
        return f"{'#' * int(heading[1])} {text}"
    numbered = properties.find(f"{WORD}numPr")
    if numbered is not None:
        level = numbered.find(f"{WORD}ilvl")
        depth = int(level.get(f"{WORD}val") or 0) if level is not None else 0
        return f"{'  ' * min(depth, 8)}- {text}"
    return f"> {text}" if name == "Quote" else text


def table_of(table: ElementTree.Element) -> str:
    rows = [
        [
            " ".join(text_of(one) for one in cell.iter(f"{WORD}p")).replace("|", "\\|").replace("\n", " ")
            for cell in row.findall(f"{WORD}tc")
        ]
        for row in table.findall(f"{WORD}tr")
    ]
    if not rows:
        return ""
    width = max(map(len, rows))
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def blocks(path: Path) -> Iterator[str]:
    with zipfile.ZipFile(path) as packed:
        part = packed.getinfo("word/document.xml")
        if part.file_size > MOST_BYTES:
            raise ValueError("the document is larger than this program reads")
        content = packed.read(part)
    if b"<!DOCTYPE" in content[:2000]:
        raise ValueError("it has a document type, which no document needs")
    body = ElementTree.fromstring(content).find(f"{WORD}body")
    for element in [] if body is None else body:
        if element.tag == f"{WORD}p":
            yield line_of(element)
        elif element.tag == f"{WORD}tbl":
            yield table_of(element)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    try:
        print("\n\n".join(block for block in blocks(given.file) if block.strip()))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        sys.exit(f"{given.file} can't be read as a document: {error}")


if __name__ == "__main__":
    main()
