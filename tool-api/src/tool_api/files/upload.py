"""Uploads, written to disk as they come: all of them appear, or none."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from service_kit.amounts import size_text
from tool_api.errors import DiskFullError, InvalidUploadError, TooLargeError
from tool_api.file_names import safe_name
from tool_api.files.placement import place_all, place_beside
from tool_api.upkeep.disk import DiskWatch
from tool_api.workspace import Located, Workspace

FIELD = "files"
MAX_FILES = 100
_MAX_HEADER_BYTES = 16 * 1024


@dataclass(slots=True)
class _Part:
    """A file being uploaded: a temporary file beside its place."""

    name: str
    temporary: str
    fd: int
    size: int = 0


class Upload:
    """Receives one multipart body into the folder of a place, by pieces. With `replaces` files take the place of those
    that have their names; else they get names with numbers beside them, unless the same file is there already."""

    def __init__(self, place: Located, max_file_bytes: int, disk: DiskWatch, *, replaces: bool = False) -> None:
        self._fd = os.dup(place.folder)
        self._prefix = place.path.removesuffix(place.name)
        self._max = max_file_bytes
        self._disk = disk
        self._replaces = replaces
        self._taken = 0
        self._reserved_bytes = self._reserved_files = 0
        self._kept_bytes = self._kept_files = 0
        self._parts: list[_Part] = []
        self._open: _Part | None = None
        self._header_name = bytearray()
        self._header_value = bytearray()
        self._disposition = b""
        self._fault: InvalidUploadError | TooLargeError | None = None
        self._is_complete = False
        self._step: asyncio.Future[object] | None = None

    def parser(self, boundary: bytes) -> MultipartParser:
        return MultipartParser(
            boundary,
            {
                "on_part_begin": self._part_begins,
                "on_part_data": self._part_data,
                "on_part_end": self._part_ends,
                "on_header_field": self._header_field,
                "on_header_value": self._header_value_piece,
                "on_header_end": self._header_ends,
                "on_headers_finished": self._headers_end,
                "on_end": self._on_end,
            },
        )

    @property
    def fault(self) -> InvalidUploadError | TooLargeError | None:
        """The fault of the body; the rest of it need not be read."""
        return self._fault

    async def finish(self) -> list[str]:
        """Put every file in its place; returns their paths."""
        if self._fault is not None:
            raise self._fault
        if not self._is_complete:
            raise InvalidUploadError("The multipart body ends too early.")
        if not self._parts:
            raise InvalidUploadError(f"The body holds no file in the field {FIELD}.")
        await self._in_thread(self._place)
        return [self._prefix + part.name for part in self._parts]

    def _place(self) -> None:
        files = [(part.temporary, part.name) for part in self._parts]
        kept = self._parts
        if self._replaces:
            place_all(self._fd, files)
        else:
            placed = place_beside(self._fd, files)
            for part, one in zip(self._parts, placed, strict=True):
                part.name = one.name
            kept = [part for part, one in zip(self._parts, placed, strict=True) if one.is_new]
        self._kept_bytes, self._kept_files = sum(part.size for part in kept), len(kept)

    def close(self) -> None:
        """Remove unfinished files, once no thread works on them any more."""
        if self._step is None or self._step.done():
            self._close()
        else:
            # Whoever sent it is gone; its numbers of open files must not become another's meanwhile.
            self._step.add_done_callback(lambda ended: (ended.exception(), self._close()))

    def _close(self) -> None:
        self._drop()
        os.close(self._fd)

    async def _in_thread(self, do: Callable[[], object]) -> None:
        self._step = asyncio.get_running_loop().run_in_executor(None, do)
        await asyncio.shield(self._step)

    def _drop(self) -> None:
        """Delete the files without a place, and give back the room they took."""
        for part in self._parts:
            if part.fd >= 0:
                os.close(part.fd)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part.temporary, dir_fd=self._fd)
        self._parts.clear()
        self._open = None
        self._disk.wrote(self._kept_bytes - self._reserved_bytes, self._kept_files - self._reserved_files)
        self._reserved_bytes, self._reserved_files = self._kept_bytes, self._kept_files

    async def receive_piece(self, parser: MultipartParser, piece: bytes) -> None:
        """Write a piece of the body, once there is room for it: all that are on their way at once share it.

        Raises:
            FormParserError: the body is malformed.
        """
        try:
            await self._disk.demand(len(piece))
        except DiskFullError:
            self._drop()
            self._fault = DiskFullError(self._disk.notice or self._disk.refusal(self._taken + len(piece)))
            return
        self._reserved_bytes += len(piece)
        await self._in_thread(lambda: parser.write(piece))
        self._disk.wrote(0, len(self._parts) - self._reserved_files)
        self._reserved_files = len(self._parts)

    def _part_begins(self) -> None:
        self._disposition = b""

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]
        self._bound_header()

    def _header_value_piece(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]
        self._bound_header()

    def _bound_header(self) -> None:
        if len(self._header_name) + len(self._header_value) > _MAX_HEADER_BYTES:
            raise FormParserError("a part's header is too long")

    def _header_ends(self) -> None:
        if bytes(self._header_name).lower() == b"content-disposition":
            self._disposition = bytes(self._header_value)
        self._header_name.clear()
        self._header_value.clear()

    def _headers_end(self) -> None:
        _, options = parse_options_header(self._disposition)
        if options.get(b"name") != FIELD.encode() or b"filename" not in options or self._fault is not None:
            return
        try:
            name = safe_name(options[b"filename"].decode("utf-8", "replace"))
        except InvalidUploadError as error:
            self._fault = error
            return
        if len(self._parts) >= MAX_FILES:
            self._fault = TooLargeError(f"At most {MAX_FILES} files can be uploaded at once.")
            return
        temporary = f".{secrets.token_hex(8)}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._open = _Part(name, temporary, os.open(temporary, flags, 0o644, dir_fd=self._fd))
        self._parts.append(self._open)

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        part = self._open
        if part is None or self._fault is not None:
            return
        part.size += end - start
        self._taken += end - start
        if part.size > self._max:
            self._fault = TooLargeError(f"{part.name} is over the limit of {size_text(self._max)}.")
            return
        view = memoryview(data)[start:end]
        while view:
            view = view[os.write(part.fd, view) :]

    def _part_ends(self) -> None:
        if self._open is not None:
            os.close(self._open.fd)
            self._open.fd = -1
            self._open = None

    def _on_end(self) -> None:
        self._is_complete = True


async def receive(
    workspace: Workspace,
    subdir: str,
    content_type: str,
    body: AsyncIterator[bytes],
    max_file_bytes: int,
    disk: DiskWatch,
    *,
    replaces: bool = False,
) -> list[str]:
    """Write the files of a multipart body into a folder of the workspace; returns their paths.

    A name that is taken gets a number, unless the body is to replace what is there, or the same file is there."""
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise InvalidUploadError("The body must be multipart/form-data.")
    with workspace.locate(f"{subdir or '.'}/{FIELD}", follow=False, make_folders=True) as place:
        upload = Upload(place, max_file_bytes, disk, replaces=replaces)
    try:
        parser = upload.parser(boundary)
        drained = 0
        async for piece in body:
            if upload.fault is None:
                await upload.receive_piece(parser, piece)
            else:
                # A client still sending would take an early answer for a broken connection.
                drained += len(piece)
                if drained > max_file_bytes:
                    break
        return await upload.finish()
    except FormParserError as error:
        raise InvalidUploadError("The multipart body is malformed.") from error
    finally:
        upload.close()
