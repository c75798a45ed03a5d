"""Forms with files, passed on as they arrive: nothing of them is kept, and reading stops at a limit."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from fastapi import HTTPException, Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from backend_api.kit.errors import InvalidError
from backend_api.sandboxes.domain.errors import UploadTooLargeError
from backend_api.sandboxes.ports import Upload
from service_kit.amounts import size_text

FIELD = "files"
MAX_FIELDS = 10
MAX_FIELD_BYTES = 64 * 1024
SLOW_S = 30.0
"""Time in seconds that a body may take however slowly it arrives."""
BYTES_PER_S = 16 * 1024
"""The least bytes for each second that the body was waited for after that."""


@asynccontextmanager
async def uploaded_files(
    request: Request, *, max_files: int, max_file_bytes: int, field: str = FIELD
) -> AsyncGenerator[AsyncGenerator[Upload]]:
    """The files of the form's `field`, to be read one after the other inside the block.

    Raises, here or while they are read, `InvalidError` for a body that is no such form or is cut off, `HTTPException`
    400 for a malformed body and 408 for one that arrives too slowly, and `UploadTooLargeError` as soon as a file is
    over its limit.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data":
        raise InvalidError("The body must be multipart/form-data.", field="body")
    if not (boundary := options.get(b"boundary")):
        raise HTTPException(400, "Missing boundary in multipart.")
    async with aclosing(request.stream()) as stream, aclosing(in_time(stream)) as body:
        form = _Form(body, boundary, max_files, max_file_bytes, field)
        first = await form.next_file()
        if first is None:
            raise InvalidError("Send at least one file.", field=f"body.{field}")
        async with aclosing(form.files(first)) as files:
            yield files


async def in_time(
    body: AsyncGenerator[bytes, None], clock: Callable[[], float] = time.monotonic
) -> AsyncGenerator[bytes, None]:
    """The body, as long as it arrives fast enough on the whole; the time its reader takes does not count.

    Raises `HTTPException` 408. The server itself ends a body of which hardly anything arrives any more.
    """
    waited, came = 0.0, 0
    while True:
        began = clock()
        if (piece := await anext(body, None)) is None:
            return
        waited, came = waited + clock() - began, came + len(piece)
        if waited > SLOW_S and came < (waited - SLOW_S) * BYTES_PER_S:
            raise HTTPException(408, "The upload is too slow.")
        yield piece


@dataclass(slots=True)
class _PartBegin:
    """The beginning of a part; without a file name it is a field."""

    field: str = ""
    file_name: str | None = None
    size: int = 0


class _PartEnd:
    """The end of the part before."""


class _Form:
    """The parts that the parser found in the last piece of the body, in order."""

    def __init__(
        self, body: AsyncGenerator[bytes, None], boundary: bytes, max_files: int, max_file_bytes: int, field: str
    ) -> None:
        self._name = field
        self._body = body
        self._max_files = max_files
        self._max_file_bytes = max_file_bytes
        self._found: deque[_PartBegin | bytes | _PartEnd] = deque()
        self._part = _PartBegin()
        self._header = bytearray()
        self._value = bytearray()
        self._files = 0
        self._fields = 0
        self._before = 0
        self._has_begun = self._has_ended = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._on_part_begin,
                    "on_header_field": self._header_field,
                    "on_header_value": self._header_value,
                    "on_header_end": self._header_ends,
                    "on_headers_finished": self._headers_end,
                    "on_part_data": self._data,
                    "on_part_end": self._part_ends,
                    "on_end": self._on_end,
                },
            )
        except FormParserError as error:
            raise HTTPException(400, "Invalid multipart data.") from error

    async def files(self, first: Upload) -> AsyncGenerator[Upload]:
        file: Upload | None = first
        while file is not None:
            yield file
            async for _ in file.chunks:
                """Whoever takes it need not read it to its end."""
            file = await self.next_file()

    async def next_file(self) -> Upload | None:
        """Read up to the next file; None at the end of the form."""
        while (found := await self._next()) is not None:
            if isinstance(found, _PartBegin) and found.field == self._name and found.file_name is not None:
                if not found.file_name:
                    raise InvalidError("Every file needs a name.", field=f"body.{self._name}")
                return Upload(name=found.file_name, chunks=self._content())
        return None

    async def _content(self) -> AsyncGenerator[bytes]:
        while isinstance(found := await self._next(), bytes):
            yield found

    async def _next(self) -> _PartBegin | bytes | _PartEnd | None:
        while not self._found:
            if self._has_ended:
                return None  # what comes after the form is nobody's, and may have no end
            try:
                piece = await anext(self._body, None)
            except ClientDisconnect:
                piece = None
            if piece is None:
                raise InvalidError("The form data ends too early.", field="body")
            self._parse(piece)
        return self._found.popleft()

    def _parse(self, piece: bytes) -> None:
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise HTTPException(400, "Invalid multipart data.") from error
        self._before += 0 if self._has_begun else len(piece)
        if self._before > MAX_FIELD_BYTES:
            raise HTTPException(400, "Invalid multipart data.")

    def _on_part_begin(self) -> None:
        self._has_begun = True
        self._part = _PartBegin()

    def _part_ends(self) -> None:
        self._found.append(_PartEnd())

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_ends(self) -> None:
        if bytes(self._header).lower() == b"content-disposition":
            _, options = parse_options_header(bytes(self._value))
            self._part.field = _text(options.get(b"name", b""))
            if b"filename" in options:
                self._part.file_name = _text(options[b"filename"])
        self._header.clear()
        self._value.clear()

    def _headers_end(self) -> None:
        if not self._part.field:
            raise HTTPException(400, 'The Content-Disposition header field "name" must be provided.')
        if self._part.file_name is None:
            self._fields += 1
        else:
            self._files += 1
        if self._files > self._max_files:
            raise HTTPException(400, f"Too many files. Maximum number of files is {self._max_files}.")
        if self._fields > MAX_FIELDS:
            raise HTTPException(400, f"Too many fields. Maximum number of fields is {MAX_FIELDS}.")
        self._found.append(self._part)

    def _data(self, data: bytes, start: int, end: int) -> None:
        self._part.size += end - start
        if self._part.file_name is None:
            if self._part.size > MAX_FIELD_BYTES:
                raise HTTPException(400, f"A field may have at most {size_text(MAX_FIELD_BYTES)}.")
            return
        if self._part.size > self._max_file_bytes:
            most = self._max_file_bytes
            raise UploadTooLargeError(f"A file may have at most {size_text(most)}.", limit_bytes=most)
        if self._part.field == self._name:
            self._found.append(data[start:end])

    def _on_end(self) -> None:
        self._has_ended = True


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
