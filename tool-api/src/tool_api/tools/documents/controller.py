"""The work of the tools that make documents."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from contracts.tools import DocumentDisplay, ToolResult
from tool_api.documents.programs import DocumentPrograms, ProgramFailedError, in_memory
from tool_api.text_encoding import encoding_of, shown_text
from tool_api.tools.documents.drawings import Drawing, Drawings, formula_style, with_drawings
from tool_api.tools.documents.page import page_of, with_pictures
from tool_api.tools.documents.pictures import Pictures
from tool_api.tools.documents.types import MAX_TEXT_CHARACTERS, SaveToMarkdown, SaveToPdf
from tool_api.tools.faults import ArgumentsT, Handler, explain_faults
from tool_api.tools.tool import CallContext, done
from tool_api.workspace import Workspace

MOST_TOLD = 10
_TO_TELL_S = 5.0
_PAGE_S = 20.0
_SEARCHABLE_S = 30.0
_TOO_HARD = "Laying out the text took too long. Shorten it, or split it into several documents."
Room = Callable[[int], Awaitable[None]]


class NotMadeError(Exception):
    """No document was made; the message tells the model why."""


class Printer(Protocol):
    """Makes a PDF of a self-contained page."""

    async def print_page(self, make_page: Callable[[], str], drawings: Drawings, within_s: float) -> bytes:
        """Print the page, which is made once all its drawings are. Raises `NotMadeError`. Cancelling ends the browser
        that prints."""
        ...


@dataclass(frozen=True, slots=True)
class _Page:
    title: str
    html: str
    pictures: list[str]
    drawings: list[Drawing]


@dataclass(frozen=True, slots=True)
class _Searchable:
    pages: int


_PAGE = TypeAdapter(_Page)
_SEARCHABLE = TypeAdapter(_Searchable)


def _explain_faults(handler: Handler[DocumentController, ArgumentsT]) -> Handler[DocumentController, ArgumentsT]:
    return explain_faults(handler, refused=NotMadeError, about=lambda _: "nothing was saved.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentController:
    """Makes documents from the model's text, in the workspace alone. `room` is called before a file is written, and
    raises `DiskFullError`."""

    workspace: Workspace
    programs: DocumentPrograms
    printer: Printer
    room: Room

    @_explain_faults
    async def save_to_markdown(self, call: CallContext, arguments: SaveToMarkdown) -> ToolResult:
        del call
        data = arguments.text.encode()
        path = await self._save(_with_suffix(arguments.file_name, ".md", ".markdown"), data)
        return done(
            f"Saved {path}, {len(data)} bytes.",
            display=DocumentDisplay(path=path, title=_first_line(arguments.text)),
            changed_paths=[path],
        )

    @_explain_faults
    async def save_to_pdf(self, call: CallContext, arguments: SaveToPdf) -> ToolResult:
        name = _with_suffix(arguments.file_name, ".pdf")
        text = arguments.text
        folder = str(PurePosixPath(arguments.source or name).parent)
        if arguments.source is not None:
            text = await asyncio.to_thread(self._source, arguments.source)
        mark = secrets.token_hex(16)
        made = await self._page(text, mark, _time_left(call, _PAGE_S))
        pictures = Pictures(self.workspace, folder)
        embedded = await asyncio.to_thread(pictures.embedded, made.pictures)
        title = made.title or PurePosixPath(name).stem
        drawings = Drawings(made.drawings)

        def page() -> str:
            content = with_drawings(with_pictures(made.html, mark, embedded), mark, drawings)
            style = formula_style() if drawings.has_formulas else ""
            return page_of(title=title, content=content, text=text, landscape=arguments.landscape, more_style=style)

        printed = await self.printer.print_page(page, drawings, _time_left(call))
        pages, data = await self._searchable(printed, _time_left(call, _SEARCHABLE_S))
        path = await self._save(name, data)
        counted = "" if pages is None else f"{pages} page{'' if pages == 1 else 's'}, "
        return done(
            f"Saved {path}, {counted}{len(data)} bytes.{_list_left_out([*pictures.left_out, *drawings.left_out])}",
            display=DocumentDisplay(path=path, title=title[:300]),
            changed_paths=[path],
        )

    async def _page(self, text: str, mark: str, within_s: float) -> _Page:
        with in_memory(text.encode()) as document:
            try:
                return _PAGE.validate_json(
                    await self.programs.answer("markdown_program", {"mark": mark}, document, within_s)
                )
            except (ProgramFailedError, ValidationError) as error:
                raise NotMadeError(_TOO_HARD) from error

    async def _searchable(self, printed: bytes, within_s: float) -> tuple[int | None, bytes]:
        """The number of pages and the searchable PDF; None and the PDF as printed if that fails."""
        with in_memory(printed) as document:
            try:
                said = await self.programs.answer("searchable_program", {}, document, within_s)
                head, _, data = said.partition(b"\n")
                return _SEARCHABLE.validate_json(head).pages, data
            except (ProgramFailedError, ValidationError):
                return None, printed

    def _source(self, source: str) -> str:
        with self.workspace.locate(source) as place, os.fdopen(place.open(), "rb") as file:
            data = file.read(4 * MAX_TEXT_CHARACTERS + 1)
        encoding = encoding_of(data)
        if encoding is None:
            raise NotMadeError(f"{source} is a binary file, not Markdown.")
        text = shown_text(encoding.decode(data))
        if not text.strip() or len(text) > MAX_TEXT_CHARACTERS:
            raise NotMadeError(f"{source} is empty, or over {MAX_TEXT_CHARACTERS} characters.")
        return text

    async def _save(self, name: str, data: bytes) -> str:
        await self.room(len(data))

        def write() -> str:
            with self.workspace.locate(name, make_folders=True) as place:
                place.write(data)
                return place.path

        return await asyncio.to_thread(write)


def _time_left(call: CallContext, most_s: float = 3600.0) -> float:
    return max(1.0, min(call.remaining_s - _TO_TELL_S, most_s))


def _with_suffix(name: str, suffix: str, *others: str) -> str:
    """The name with the suffix, unless it ends in it or in one of the others."""
    return name if name.lower().endswith((suffix, *others)) else f"{name}{suffix}"


def _first_line(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "")
    return line.lstrip("# ").strip()[:300]


def _list_left_out(left_out: list[str]) -> str:
    if not left_out:
        return ""
    more = f"\n- and {len(left_out) - MOST_TOLD} more" if len(left_out) > MOST_TOLD else ""
    return "\nLeft out of it:\n" + "\n".join(f"- {line}" for line in left_out[:MOST_TOLD]) + more
