"""Routes for the files of a session's sandbox."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi import Path as FilePath
from starlette.responses import Response

from backend_api.computers.application.link_file import LinkFile
from backend_api.computers.application.upload_files import UploadFiles
from backend_api.computers.domain import FileLinks
from backend_api.computers.http.file_schemas import (
    FileEntryBody,
    FilePreviewBody,
    LinkBody,
    SignedLinkBody,
    UploadedBody,
)
from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller, address_of
from backend_api.kit.http.closing import ClosingResponse
from backend_api.kit.http.content_origin import is_content_origin
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.files_body import FILES_BODY
from backend_api.kit.http.ports import Options, port
from backend_api.kit.http.server_origin import server_origin
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.domain.content import HEAD_BYTES
from backend_api.sandboxes.domain.errors import FileMissingError
from backend_api.sandboxes.http.forms import uploaded_files
from backend_api.sandboxes.http.user_content import content_headers, running_headers
from backend_api.sandboxes.ports import Download, Workspace

router = APIRouter(prefix="/api", tags=["files"])

Path = Annotated[str, Query(max_length=4096)]
_OUTSIDE: dict[int | str, dict[str, Any]] = {403: {}}
_BYTES = {200: {"content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}} | _OUTSIDE


@dataclass(frozen=True, slots=True)
class _Opening:
    """Opens files of a workspace for download."""

    session_sandbox: SessionSandbox
    workspace: Workspace
    links: FileLinks

    async def file(self, session_id: SessionId, user_id: UserId, path: str, opening: AsyncExitStack) -> _File:
        sandbox = await self.session_sandbox(session_id, user_id)
        return _File(await opening.enter_async_context(self.workspace.download(sandbox, path)))

    async def linked(self, token: str, opening: AsyncExitStack) -> _File:
        """The file of a link; a file that has become a folder since then is refused."""
        link = self.links.read(token)
        if link.is_running:
            raise FileMissingError("This link opens the files of a page alone, not their folder.")
        file = await self.file(SessionId(link.session_id), UserId(link.user_id), link.path, opening)
        if file.download.is_folder and not link.is_folder:
            raise FileMissingError("The path of this link is a folder now, not a file.")
        return file

    async def beside(self, token: str, path: str, opening: AsyncExitStack) -> _File:
        """One within the folder of a link."""
        link = self.links.read(token)
        parts = path.split("/")
        if not link.is_folder or {"", ".", ".."} & set(parts) or "\\" in path:
            raise FileMissingError("There is no such file.")
        if link.is_running and any(part.startswith(".") for part in parts):
            raise FileMissingError("This link opens no hidden files.")
        whole = "/".join([link.path.rstrip("/"), path]) if link.path.strip("./") else path
        file = await self.file(SessionId(link.session_id), UserId(link.user_id), whole, opening)
        if file.download.is_folder:
            raise FileMissingError("There is a folder of this name, not a file.")
        return file


# A coroutine, as the framework calls a class in a thread.
async def _opening(
    session_sandbox: Annotated[SessionSandbox, port("session_sandbox")],
    workspace: Annotated[Workspace, port("workspace")],
    links: Annotated[FileLinks, port("links")],
) -> _Opening:
    return _Opening(session_sandbox, workspace, links)


_Files = Annotated[_Opening, Depends(_opening)]


@router.get("/sessions/{session_id}/files", responses=_OUTSIDE, dependencies=[ONE_PLACE])
async def list_files(
    session_id: str,
    caller: CurrentCaller,
    session_sandbox: Annotated[SessionSandbox, port("session_sandbox")],
    workspace: Annotated[Workspace, port("workspace")],
    path: Path = "",
) -> list[FileEntryBody]:
    """List a folder of the workspace."""
    sandbox = await session_sandbox(SessionId(session_id), caller.user.id)
    return [FileEntryBody.model_validate(entry) for entry in await workspace.list(sandbox, path)]


@router.get("/sessions/{session_id}/files/content", responses=_OUTSIDE, dependencies=[ONE_PLACE])
async def preview_file(
    session_id: str,
    caller: CurrentCaller,
    session_sandbox: Annotated[SessionSandbox, port("session_sandbox")],
    workspace: Annotated[Workspace, port("workspace")],
    path: Path,
) -> FilePreviewBody:
    """Return the text of a file, truncated at 100 KB; null for a binary file."""
    sandbox = await session_sandbox(SessionId(session_id), caller.user.id)
    return FilePreviewBody.model_validate(await workspace.preview(sandbox, path))


@router.get("/sessions/{session_id}/files/download", response_class=Response, responses=_BYTES)
async def download_file(session_id: str, caller: CurrentCaller, files: _Files, path: Path = "") -> Response:
    """Download a file, or a folder as a zip archive; the whole workspace without a path."""
    async with AsyncExitStack() as opening:
        file = await files.file(SessionId(session_id), caller.user.id, path, opening)
        headers = await file.headers()
        return ClosingResponse(file.sent(opening.pop_all()), headers=headers)


@router.get("/files/{token}", response_class=Response, responses=_BYTES)
async def open_link(token: str, request: Request, files: _Files, options: Options, download: bool = False) -> Response:
    """The one file of a signed link; open to whoever has it.

    It is shown if links have an origin of their own, unless it is to be downloaded; elsewhere it is an attachment.
    """
    is_own = is_content_origin(options.user_content_origin, request.headers.get("host", ""))
    async with AsyncExitStack() as opening:
        file = await files.linked(token, opening)
        headers = await file.headers(shown=is_own and not download, has_own_origin=is_own)
        return ClosingResponse(file.sent(opening.pop_all()), headers=headers)


@router.get("/files/{token}/{path:path}", response_class=Response, responses=_BYTES)
async def open_beside(
    token: str,
    path: Annotated[str, FilePath(max_length=4096)],
    files: _Files,
    sec_fetch_dest: Annotated[str, Header(max_length=100)] = "",
) -> Response:
    """One file of the folder of a signed link, for a page of that folder which runs in a frame; open to whoever has the
    link. What it is served as lets it read nothing of this server, and it loads only what is beside it."""
    async with AsyncExitStack() as opening:
        file = await files.beside(token, path, opening)
        headers = await file.running_headers(is_framed=sec_fetch_dest != "document")
        return ClosingResponse(file.sent(opening.pop_all()), headers=headers)


@router.head("/files/{token}", response_class=Response, include_in_schema=False)
async def look_at_link(
    token: str, request: Request, files: _Files, options: Options, download: bool = False
) -> Response:
    """The headers that opening the link would return."""
    is_own = is_content_origin(options.user_content_origin, request.headers.get("host", ""))
    async with AsyncExitStack() as opening:
        file = await files.linked(token, opening)
        headers = await file.headers(shown=is_own and not download, has_own_origin=is_own)
    answer = Response(headers=headers)
    if "Content-Length" not in headers:
        del answer.headers["Content-Length"]
    return answer


@router.post("/sessions/{session_id}/files/link", openapi_extra=with_example({"path": "report.pdf"}))
async def link_file(
    session_id: str,
    body: LinkBody,
    request: Request,
    caller: CurrentCaller,
    link_file: Annotated[LinkFile, port("link_file")],
    options: Options,
) -> SignedLinkBody:
    """A signed link to one existing file, or to a folder if one is requested.

    Its address is that of USER_CONTENT_ORIGIN or PUBLIC_URL, or the one this request came to if that is known to be the
    server's own; else it begins with a slash, and is relative to this server.
    """
    link = await link_file(
        SessionId(session_id),
        caller.user.id,
        body.path,
        body.expires_s,
        is_folder=body.folder,
        is_running=body.running,
    )
    origin = options.user_content_origin or options.public_url or server_origin(request.scope, options)
    return SignedLinkBody(url=f"{origin}/api/files/{link.token}", expires_at=link.expires_at)


@router.post(
    "/sessions/{session_id}/files",
    status_code=201,
    responses=_OUTSIDE,
    openapi_extra=FILES_BODY,
)
async def upload_files(
    session_id: str,
    request: Request,
    caller: CurrentCaller,
    sessions: Annotated[SessionRepository, port("sessions")],
    upload_files: Annotated[UploadFiles, port("upload_files")],
    options: Options,
    subdir: Path = "",
    *,
    replace: bool = False,
) -> UploadedBody:
    """Upload files into the workspace; returns their paths.

    If a name is taken, the file gets a number, such as `image (2).png`, so that no file is lost. A file that is there
    already with the same content stays the only one, so that what was cut off can be sent again. With `replace=true` it
    replaces the file that has its name.
    """
    await sessions.get(SessionId(session_id), caller.user.id)
    async with (
        upload_files.admitted(caller.user.id, address_of(request)),
        uploaded_files(request, max_files=options.max_files, max_file_bytes=options.max_upload_bytes) as files,
    ):
        paths = await upload_files(SessionId(session_id), caller.user.id, subdir, files, replaces=replace)
    return UploadedBody(uploaded=paths)


@dataclass(slots=True)
class _File:
    """A download whose first bytes have been read."""

    download: Download
    _begin: bytes = b""

    async def headers(self, *, shown: bool = False, has_own_origin: bool = False) -> dict[str, str]:
        """The headers, chosen by name and first bytes."""
        self._begin = await _head(self.download.chunks)
        headers = content_headers(self.download.name, self._begin, shown=shown, has_own_origin=has_own_origin)
        if self.download.size is not None:
            headers["Content-Length"] = str(self.download.size)
        return headers

    async def running_headers(self, *, is_framed: bool) -> dict[str, str]:
        """As a page that is closed off, or a part of one."""
        self._begin = await _head(self.download.chunks)
        headers = running_headers(self.download.name, self._begin, is_framed=is_framed)
        if self.download.size is not None:
            headers["Content-Length"] = str(self.download.size)
        return headers

    async def sent(self, held: AsyncExitStack) -> AsyncGenerator[bytes]:
        """Yield the whole content, then close what held it open."""
        async with held:
            if self._begin:
                yield self._begin
            async for chunk in self.download.chunks:
                yield chunk


async def _head(chunks: AsyncIterator[bytes]) -> bytes:
    """The first pieces: enough to recognise the content type."""
    head = bytearray()
    while len(head) < HEAD_BYTES and (chunk := await anext(chunks, None)) is not None:
        head += chunk
    return bytes(head)
