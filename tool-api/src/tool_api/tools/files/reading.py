"""Results of `file_read`: the lines of a file, the text of a document, or a picture."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass

from contracts.tools import FileDisplay, ImageDisplay, ToolResult
from tool_api.documents.kinds import SNIFFED_BYTES, Kind, kind_of
from tool_api.documents.parts import Asked, RefusedDocumentError
from tool_api.documents.reader import DocumentReader
from tool_api.text_encoding import encoding_of_file
from tool_api.tools.files import text
from tool_api.tools.files.types import FileRead
from tool_api.tools.tool import CallContext, done, failed
from tool_api.workspace import Workspace

_TO_TELL_S = 5.0
"""Seconds of a call's time reserved for reporting that there was not enough."""


@dataclass(frozen=True, slots=True)
class _OpenFile:
    fd: int
    path: str
    size: int
    kind: Kind


async def read_file(
    workspace: Workspace, documents: DocumentReader, call: CallContext, arguments: FileRead
) -> ToolResult:
    """The result of `file_read`. Raises errors of path lookup, and `NotTextError`."""
    opened = _open(workspace, arguments)
    try:
        if opened.kind in (Kind.BINARY, Kind.LINES):
            return await _lines(opened, arguments)
        if opened.kind is Kind.PICTURE:
            return await _picture(documents, opened, call)
        if opened.kind is Kind.DRAWING:
            return await _drawing(documents, opened, call, arguments)
        return await _document(documents, opened, call, arguments)
    finally:
        os.close(opened.fd)


def _open(workspace: Workspace, arguments: FileRead) -> _OpenFile:
    with workspace.locate(arguments.path) as place:
        fd = place.open()
        try:
            kind = kind_of(os.pread(fd, SNIFFED_BYTES, 0), place.path, as_text=arguments.as_text)
            return _OpenFile(fd, place.path, os.fstat(fd).st_size, kind)
        except BaseException:
            os.close(fd)
            raise


async def _lines(opened: _OpenFile, arguments: FileRead) -> ToolResult:
    encoding = await asyncio.to_thread(encoding_of_file, opened.fd)
    if encoding is None:
        raise text.NotTextError(f"{opened.path} is a binary file of {opened.size} bytes.")
    if arguments.start_page > 1:
        return failed(f"{opened.path} is a text without pages. Use start_line and end_line.")
    start = arguments.start_line
    lines = await asyncio.to_thread(
        text.read_lines, os.dup(opened.fd), opened.size, start, arguments.end_line, encoding
    )
    if start > 1 and not lines.text:
        return failed(f"{opened.path} has only {lines.last} lines.")
    note = f"\n[cut; read on with start_line={lines.last + 1}]" if lines.is_cut else ""
    remark = f"{said}\n" if (said := encoding.remark()) is not None else ""
    return done(remark + (lines.text or "[the file is empty]") + note, display=_display(opened))


async def _document(documents: DocumentReader, opened: _OpenFile, call: CallContext, arguments: FileRead) -> ToolResult:
    asked = Asked(
        start_page=arguments.start_page,
        end_page=arguments.end_page,
        start_line=arguments.start_line,
        end_line=arguments.end_line,
    )
    try:
        return done(
            await documents.read(opened.fd, opened.kind, asked, max(1.0, call.remaining_s - _TO_TELL_S)),
            display=_display(opened),
        )
    except RefusedDocumentError as refused:
        return failed(f"Not read: {opened.path}, {opened.size} bytes. {refused}")


async def _picture(documents: DocumentReader, opened: _OpenFile, call: CallContext) -> ToolResult:
    try:
        shown = await documents.show(opened.fd, max(1.0, call.remaining_s - _TO_TELL_S))
    except RefusedDocumentError as refused:
        return failed(f"Not shown: the picture {opened.path}, {opened.size} bytes. {refused}")
    display = ImageDisplay(path=opened.path, image=shown.image, image_media_type=shown.media_type)
    return done(f"{opened.path}: {shown.said}", display=display)


async def _drawing(documents: DocumentReader, opened: _OpenFile, call: CallContext, arguments: FileRead) -> ToolResult:
    """The source of a drawing, with a picture of it beside the beginning."""
    source = await _lines(opened, arguments)
    if not source.success or arguments.start_line > 1:
        return source
    os.lseek(opened.fd, 0, os.SEEK_SET)
    shown = await _picture(documents, opened, call)
    display = shown.display if shown.success else source.display
    return done(f"{shown.output}\nIts source:\n{source.output}", display=display)


def _display(opened: _OpenFile) -> FileDisplay:
    return FileDisplay(path=opened.path, operation="read", size=opened.size)
