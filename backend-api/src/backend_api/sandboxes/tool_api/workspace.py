"""`Workspace` over the endpoint: listing, preview, download and upload, nothing held in memory as a whole."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter

from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import SandboxLostError
from backend_api.sandboxes.ports import Download, FileEntry, FilePreview, Upload
from backend_api.sandboxes.tool_api.endpoint_faults import endpoint_faults
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.problems import error_of
from contracts.tools import MAX_LISTED, FileContent, Uploaded
from contracts.tools import FileEntry as WireEntry
from service_kit.bounded_http import Bounds, StreamedAnswer, TransportError, declared_length
from service_kit.bounded_json import MalformedJsonError, read_json

SCOPES = (Scope.FILES,)
_MOST_VALUES = 40_000
_ENTRIES = TypeAdapter(Annotated[list[WireEntry], Field(max_length=MAX_LISTED)])
_CONTENT = TypeAdapter(FileContent)
_UPLOADED = TypeAdapter(Uploaded)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBounds:
    """Bounds of each kind of answer. An upload is taken at the sandbox's own pace, then a few names follow."""

    listing: Bounds
    preview: Bounds
    download: Bounds
    upload: Bounds


FILES = FileBounds(
    listing=Bounds(body_bytes=8 * 1024 * 1024, head_s=30.0, whole_s=40.0),
    preview=Bounds(body_bytes=2 * 1024 * 1024, head_s=30.0, whole_s=40.0),
    download=Bounds(body_bytes=64 * 1024**3, head_s=30.0, silent_s=30.0, slowest=16 * 1024),
    upload=Bounds(body_bytes=1024 * 1024, head_s=600.0, whole_s=610.0),
)


class ToolApiWorkspace:
    """Files of sandboxes."""

    def __init__(self, endpoints: Endpoints, bounds: FileBounds = FILES) -> None:
        self._endpoints = endpoints
        self._bounds = bounds

    async def list(self, sandbox: Sandbox, path: str) -> list[FileEntry]:
        entries = await self._get_json(sandbox, "/files", {"path": path}, self._bounds.listing, _ENTRIES)
        if not all(_is_named(entry) for entry in entries):
            raise SandboxLostError(_NOT_ANSWERED)
        return [
            FileEntry(
                path=entry.path, name=entry.name, size=entry.size, modified_at=entry.modified_at, is_dir=entry.is_dir
            )
            for entry in entries
        ]

    async def preview(self, sandbox: Sandbox, path: str) -> FilePreview:
        found = await self._get_json(sandbox, "/files/content", {"path": path}, self._bounds.preview, _CONTENT)
        return FilePreview(**found.model_dump())

    @asynccontextmanager
    async def download(self, sandbox: Sandbox, path: str) -> AsyncGenerator[Download, None]:
        async with self._stream(
            sandbox, "GET", "/files/download", self._bounds.download, params={"path": path or "."}
        ) as answer:
            is_folder = answer.headers.get("content-type", "").startswith("application/zip")
            yield Download(
                name=_name(path, is_folder=is_folder),
                size=declared_length(answer.headers),
                chunks=_chunks(answer),
                is_folder=is_folder,
            )

    async def upload(
        self, sandbox: Sandbox, subdir: str, files: AsyncIterable[Upload], *, replaces: bool = False
    ) -> list[str]:
        boundary = secrets.token_hex(16)
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        params = {"subdir": subdir, "replace": "true" if replaces else "false"}
        content = _multipart(boundary, files)
        async with self._stream(
            sandbox, "POST", "/files", self._bounds.upload, params=params, headers=headers, content=content
        ) as answer:
            return _read(_UPLOADED, await answer.whole()).uploaded

    async def _get_json(
        self, sandbox: Sandbox, path: str, params: dict[str, str], bounds: Bounds, kind: TypeAdapter[_T]
    ) -> _T:
        async with self._stream(sandbox, "GET", path, bounds, params=params) as answer:
            return _read(kind, await answer.whole())

    @asynccontextmanager
    async def _stream(
        self, sandbox: Sandbox, method: str, path: str, bounds: Bounds, **fields: Any
    ) -> AsyncGenerator[StreamedAnswer, None]:
        # A streamed body can be sent once only, so an upload gets no second attempt.
        attempts = 1 if "content" in fields else 2
        for attempt in range(1, attempts + 1):
            async with (
                endpoint_faults(
                    self._endpoints, sandbox, refused=_NOT_ANSWERED, broken="The connection to the computer was lost."
                ),
                self._endpoints.open(sandbox, SCOPES) as endpoint,
                endpoint.stream(method, path, bounds, **fields) as answer,
            ):
                if answer.status == 401 and attempt < attempts:
                    self._endpoints.refuse(sandbox)
                    continue
                if not answer.is_success:
                    raise error_of(answer.status, await answer.problem())
                yield answer
                return


_NOT_ANSWERED = "The computer's response was malformed."


def _read(kind: TypeAdapter[_T], content: bytes) -> _T:
    try:
        return read_json(kind, content, most_values=_MOST_VALUES)
    except MalformedJsonError as error:
        raise SandboxLostError(_NOT_ANSWERED) from error


def _is_named(entry: WireEntry) -> bool:
    """Whether the entry's name has one part and is the end of a path within the workspace."""
    parts = entry.path.split("/")
    return entry.name not in ("", ".", "..") and parts[-1] == entry.name and not {"", ".", ".."} & set(parts)


async def _chunks(answer: StreamedAnswer) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.pieces():
            yield piece
    except TransportError as error:
        raise SandboxLostError("The connection to the computer broke in the middle of the file.") from error


async def _multipart(boundary: str, files: AsyncIterable[Upload]) -> AsyncIterator[bytes]:
    async for file in files:
        name = file.name.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", " ")
        yield (
            f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode()
        async for chunk in file.chunks:
            yield chunk
        yield b"\r\n"
    yield f"--{boundary}--\r\n".encode()


def _name(path: str, *, is_folder: bool) -> str:
    """The download's name by the requested path; a folder comes as zip."""
    name = path.rstrip("/").rsplit("/", 1)[-1]
    name = "workspace" if name in ("", ".", "..") else name
    return f"{name}.zip" if is_folder else name
