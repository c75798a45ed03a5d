"""The cells of a Jupyter notebook as Markdown, with the text of what they printed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

from tool_api.documents.formats.left_out import told
from tool_api.documents.formats.whole import WholeDocument
from tool_api.documents.parts import RefusedDocumentError

_OLD_PICTURES = ("png", "jpeg", "svg")
"""Picture formats that version 3 stores beside the text of an output."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def open_document(data: bytes) -> WholeDocument:
    """Raises `RefusedDocumentError` for anything but a notebook."""
    try:
        notebook: Any = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise RefusedDocumentError("It is not complete JSON. Read it without as_text to see its content.") from error
    cells = _cells(notebook)
    if cells is None:
        raise RefusedDocumentError("Its notebook version is not supported. Read it without as_text.")
    left_out = Counter[str]()
    lines: list[str] = []
    for number, cell in enumerate(cells, 1):
        lines += _cell(number, cell, left_out)
    return WholeDocument(
        about=f"[notebook, {len(cells)} cell{'' if len(cells) == 1 else 's'}]",
        text="\n".join([*lines, *told(left_out)]),
    )


def _cells(notebook: Any) -> list[Any] | None:
    """The cells of a notebook; up to version 3 they were in worksheets."""
    cells = _items(notebook, "cells")
    sheets = [found for sheet in _items(notebook, "worksheets") or () if (found := _items(sheet, "cells")) is not None]
    if cells is not None or not sheets:
        return cells
    return [cell for found in sheets for cell in found]


def _cell(number: int, cell: Any, left_out: Counter[str]) -> Iterator[str]:
    found = _fields(cell)
    if not found:
        yield f"[cell {number} could not be read]"
        return
    yield f"--- cell {number}: {found.get('cell_type')} ---"
    yield _joined(found.get("source", found.get("input")))
    for output in _items(cell, "outputs") or ():
        text = _output(_fields(output), left_out)
        if text:
            yield f"[output]\n{text}"


def _output(output: dict[str, Any], left_out: Counter[str]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename')}: {output.get('evalue')}"
    shown = _fields(output.get("data"))
    if not shown:
        left_out["picture"] += any(kind in output for kind in _OLD_PICTURES)
        return _joined(output.get("text"))
    is_picture = any(kind.startswith("image/") for kind in shown)
    left_out["picture"] += is_picture
    for kind in ("text/markdown", "text/plain"):
        if kind in shown:
            return _joined(shown[kind])
    left_out["output of another kind"] += not is_picture
    return ""


def _fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _items(value: Any, name: str) -> list[Any] | None:
    found = _fields(value).get(name)
    return cast("list[Any]", found) if isinstance(found, list) else None


def _joined(source: Any) -> str:
    lines = cast("list[Any]", source) if isinstance(source, list) else [source or ""]
    text = "".join(map(str, lines))
    return _COLOURS.sub("", text).rstrip("\n")
