"""`Workspace` over the door: listing, preview, download and upload, nothing held in memory as a whole."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from email.message import Message
from typing import Any
from urllib.parse import unquote

import httpx
from pydantic import TypeAdapter

from backend_api.domain.sandbox.entity import Computer, Scope
from backend_api.domain.sandbox.errors import ComputerLostError, ComputerUnavailableError
from backend_api.domain.sandbox.ports import Download, FileEntry, FilePreview, Upload
from backend_api.infrastructure.tool_api.doors import Doors
from backend_api.infrastructure.tool_api.problems import error_of
from contracts.tools import FileContent, Uploaded
from contracts.tools import FileEntry as WireEntry

SCOPES = (Scope.FILES,)
ANSWER_DEADLINE_S = 30.0
_ENTRIES = TypeAdapter(list[WireEntry])
_WHOLE_NAME = re.compile(r"filename\*=utf-8''([^;\s]+)", re.IGNORECASE)


class DoorWorkspace:
    """Files of computers."""

    def __init__(self, doors: Doors) -> None:
        self._doors = doors

    async def list(self, computer: Computer, path: str) -> list[FileEntry]:
        response = await self._get(computer, "/files", {"path": path})
        return [
            FileEntry(
                path=entry.path, name=entry.name, size=entry.size, modified_at=entry.modified_at, is_dir=entry.is_dir
            )
            for entry in _ENTRIES.validate_json(response.content)
        ]

    async def preview(self, computer: Computer, path: str) -> FilePreview:
        response = await self._get(computer, "/files/content", {"path": path})
        return FilePreview(**FileContent.model_validate_json(response.content).model_dump())

    @asynccontextmanager
    async def download(self, computer: Computer, path: str) -> AsyncGenerator[Download, None]:
        async with self._stream(computer, "GET", "/files/download", params={"path": path}) as response:
            length = response.headers.get("content-length")
            yield Download(
                name=_name(response, path),
                media_type=response.headers.get("content-type", "application/octet-stream"),
                size=int(length) if length and length.isdigit() else None,
                chunks=_chunks(response),
            )

    async def upload(self, computer: Computer, subdir: str, files: list[Upload]) -> list[str]:
        boundary = secrets.token_hex(16)
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        params = {"subdir": subdir}
        content = _multipart(boundary, files)
        async with self._stream(
            computer, "POST", "/files", params=params, headers=headers, content=content
        ) as response:
            await response.aread()
            return Uploaded.model_validate_json(response.content).uploaded

    async def _get(self, computer: Computer, path: str, params: dict[str, str]) -> httpx.Response:
        async with self._stream(computer, "GET", path, params=params) as response:
            await response.aread()
            return response

    @asynccontextmanager
    async def _stream(
        self, computer: Computer, method: str, path: str, *, headers: dict[str, str] | None = None, **fields: Any
    ) -> AsyncGenerator[httpx.Response, None]:
        # A body that is a stream can be sent once only, so an upload gets no second attempt.
        attempts = 1 if "content" in fields else 2
        for attempt in range(1, attempts + 1):
            door = await self._doors.open(computer, SCOPES)
            timeout = httpx.Timeout(ANSWER_DEADLINE_S, connect=5.0)
            request = door.http.build_request(
                method, path, headers={**door.headers, **(headers or {})}, timeout=timeout, **fields
            )
            try:
                response = await door.http.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                await self._doors.forget(computer)
                raise ComputerUnavailableError("The computer does not answer at its door.") from error
            except httpx.TransportError as error:
                await self._doors.forget(computer)
                raise ComputerLostError("The connection to the computer broke.") from error
            try:
                if response.status_code == 401 and attempt < attempts:
                    self._doors.refuse(computer)
                    continue
                if response.is_error:
                    raise await error_of(response)
                try:
                    yield response
                except httpx.TransportError as error:
                    raise ComputerLostError("The connection to the computer broke.") from error
                return
            finally:
                await response.aclose()


async def _chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_bytes():
            yield chunk
    except httpx.TransportError as error:
        raise ComputerLostError("The connection to the computer broke in the middle of the file.") from error


async def _multipart(boundary: str, files: list[Upload]) -> AsyncIterator[bytes]:
    for file in files:
        name = file.name.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", " ")
        yield (
            f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode()
        async for chunk in file.chunks:
            yield chunk
        yield b"\r\n"
    yield f"--{boundary}--\r\n".encode()


def _name(response: httpx.Response, path: str) -> str:
    """The name the door gives, its whole form before its plain one; else the last part of the path."""
    given = response.headers.get("content-disposition", "")
    if whole := _WHOLE_NAME.search(given):
        return unquote(whole.group(1))
    header = Message()
    header["Content-Disposition"] = given
    return header.get_filename() or path.rstrip("/").rsplit("/", 1)[-1] or "workspace"
