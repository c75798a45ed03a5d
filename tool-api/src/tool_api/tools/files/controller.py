"""The file tools' work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from contracts.tools import DiffDisplay, FileDisplay, ToolResult
from tool_api.documents.reader import DocumentReader
from tool_api.text_encoding import TextEncoding
from tool_api.tools.faults import ArgumentsT, Handler, explain_faults
from tool_api.tools.files import folders, search, text
from tool_api.tools.files.reading import read_file
from tool_api.tools.files.types import (
    FileAppend,
    FileDelete,
    FileEdit,
    FileFind,
    FileList,
    FileMove,
    FileRead,
    FileSearch,
    FileWrite,
)
from tool_api.tools.tool import Arguments, CallContext, done, failed
from tool_api.workspace import Workspace

Room = Callable[[int], Awaitable[None]]


def _explain_faults(handler: Handler[FileController, ArgumentsT]) -> Handler[FileController, ArgumentsT]:
    return explain_faults(handler, refused=text.NotTextError, about=_paths_of)


async def _any_room(_: int) -> None:
    return


def _paths_of(arguments: Arguments) -> str:
    values: dict[str, Any] = arguments.model_dump(include={"path", "source", "destination"})
    return ", ".join(str(value) for value in values.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class FileController:
    """Reads and changes files inside the workspace, the temporary folder and that of skills. `room` is called before a
    file grows, and raises `DiskFullError`."""

    workspace: Workspace
    documents: DocumentReader
    room: Room = _any_room

    @_explain_faults
    async def read(self, call: CallContext, arguments: FileRead) -> ToolResult:
        return await read_file(self.workspace, self.documents, call, arguments)

    @_explain_faults
    async def write(self, _: CallContext, arguments: FileWrite) -> ToolResult:
        await self.room(len(arguments.content.encode()))

        def work() -> tuple[str, text.Written]:
            with self.workspace.locate(arguments.path, make_folders=True) as place:
                return place.path, text.write_text(place, arguments.content)

        path, written = await asyncio.to_thread(work)
        display = FileDisplay(
            path=path, operation="write", size=written.size, replaced=written.was_there, diff=written.diff
        )
        said = f"Wrote {written.size} bytes to {path}{_kept(written)}."
        return done(said, display=display, changed_paths=[path])

    @_explain_faults
    async def append(self, _: CallContext, arguments: FileAppend) -> ToolResult:
        await self.room(len(arguments.content.encode()))

        def work() -> tuple[str, text.Written]:
            with self.workspace.locate(arguments.path, make_folders=True) as place:
                return place.path, text.append_text(place, arguments.content)

        path, written = await asyncio.to_thread(work)
        display = _file(path, "append", size=written.size)
        said = f"Added to {path}{_in(written.encoding)}, now {written.size} bytes."
        return done(said, display=display, changed_paths=[path])

    @_explain_faults
    async def edit(self, _: CallContext, arguments: FileEdit) -> ToolResult:
        await self.room(max(len(arguments.new.encode()) - len(arguments.old.encode()), 0))

        def work() -> tuple[str, text.Replaced]:
            with self.workspace.locate(arguments.path) as place:
                return place.path, text.replace_text(place, arguments.old, arguments.new, every=arguments.replace_all)

        path, replaced = await asyncio.to_thread(work)
        if replaced.found == 0:
            return failed(f"The text to replace does not occur in {path}. Read the file and copy it exactly.")
        if replaced.diff is None:
            return failed(
                f"The text to replace occurs {replaced.found} times in {path}. Give more of its surroundings, "
                "or set replace_all."
            )
        display = DiffDisplay(path=path, diff=replaced.diff)
        times = "once" if replaced.found == 1 else f"{replaced.found} times"
        return done(
            f"Replaced {times} in {path}{_in(replaced.encoding)}.\n{replaced.diff}",
            display=display,
            changed_paths=[path],
        )

    @_explain_faults
    async def list(self, _: CallContext, arguments: FileList) -> ToolResult:
        def work() -> tuple[str, tuple[list[str], bool]]:
            with self.workspace.locate(arguments.path) as place:
                return place.path, folders.list_folder(place)

        path, (names, is_cut) = await asyncio.to_thread(work)
        return _entries(path, "list", names, is_cut=is_cut, nothing="[the folder is empty]")

    @_explain_faults
    async def find(self, _: CallContext, arguments: FileFind) -> ToolResult:
        def work() -> tuple[str, tuple[list[str], bool]]:
            with self.workspace.locate(arguments.path) as place:
                return place.path, folders.find_files(place, arguments.pattern)

        path, (names, is_cut) = await asyncio.to_thread(work)
        return _entries(path, "find", names, is_cut=is_cut, nothing="[nothing matches]")

    @_explain_faults
    async def search(self, _: CallContext, arguments: FileSearch) -> ToolResult:
        with self.workspace.locate(arguments.path) as place:
            try:
                found = await search.search(place, arguments.pattern, ignore_case=arguments.ignore_case)
            except search.BadPatternError as error:
                return failed(f"The pattern is not a valid regular expression: {error}")
            return _entries(place.path, "search", found.lines, is_cut=found.is_cut, nothing="[nothing matches]")

    @_explain_faults
    async def move(self, _: CallContext, arguments: FileMove) -> ToolResult:
        def work() -> tuple[str, str] | None:
            with self.workspace.locate(arguments.source, follow=False) as place:
                if place.is_root:
                    return None
                place.stat()
                moved = folders.move(self.workspace, place, arguments.destination, overwrite=arguments.overwrite)
                return place.path, moved

        moved = await asyncio.to_thread(work)
        if moved is None:
            return failed("The workspace itself can't be moved.")
        before, now = moved
        return done(f"Moved {before} to {now}.", display=_file(now, "move"), changed_paths=[before, now])

    @_explain_faults
    async def delete(self, call: CallContext, arguments: FileDelete) -> ToolResult:
        def work() -> str | None:
            with self.workspace.locate(arguments.path, follow=False) as place:
                if place.is_root:
                    return None
                folders.delete(place, recursive=arguments.recursive, until=call.deadline)
                return place.path

        path = await asyncio.to_thread(work)
        if path is None:
            return failed("The workspace itself can't be deleted.")
        return done(f"Deleted {path}.", display=_file(path, "delete"), changed_paths=[path])


def _kept(written: text.Written) -> str:
    """A remark on the encoding and line ends that the file kept."""
    name = "" if written.encoding.is_utf8 else f" in {written.encoding.name}"
    ends = " with CRLF at the ends of lines" if written.is_crlf else ""
    return f"{name}{ends}, as the file was before. Delete it first to change that" if name or ends else ""


def _in(encoding: TextEncoding) -> str:
    return "" if encoding.is_utf8 else f" in {encoding.name}"


def _file(path: str, operation: Any, *, size: int | None = None) -> FileDisplay:
    return FileDisplay(path=path, operation=operation, size=size)


def _entries(path: str, operation: Any, entries: list[str], *, is_cut: bool, nothing: str) -> ToolResult:
    note = "\n[more was left out]" if is_cut else ""
    display = FileDisplay(path=path, operation=operation, entries=entries)
    return done(("\n".join(entries) or nothing) + note, display=display)
