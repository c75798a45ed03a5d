"""Routes of the files panel."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from contracts.files import ChangedPath, MakeFolder, MovePath, SavedText, SaveText, TextFile
from contracts.sandboxes import Scope
from contracts.tools import FileContent, FileEntry, Uploaded
from tool_api.errors import ConflictError, NotFoundError, PathForbiddenError
from tool_api.files import download, editing, listing, upload
from tool_api.http.authorization import require
from tool_api.http.services import Services, services_of
from tool_api.workspace import NotRegularError

router = APIRouter(prefix="/files", dependencies=[Depends(require(Scope.FILES))], responses={403: {}, 404: {}, 409: {}})

PresentServices = Annotated[Services, Depends(services_of)]
AnyPath = Annotated[str, Query(max_length=4096)]
_UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                }
            }
        },
    }
}
FilePath = Annotated[str, Query(min_length=1, max_length=4096)]


_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
_CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_TAKEN = frozenset({errno.EEXIST, errno.EISDIR, errno.ENOTEMPTY, errno.EBUSY, errno.EXDEV})


@contextmanager
def _explain_faults(path: str) -> Generator[None]:
    """Turn faults of files that the agent made into problem details; they are no server errors."""
    try:
        yield
    except OSError as error:
        if error.errno in _NOT_THERE:
            raise NotFoundError(f"There is no {path} in the workspace.") from error
        if error.errno in _CLOSED:
            raise PathForbiddenError(f"The permissions of {path} do not allow this.") from error
        if error.errno in _TAKEN:
            raise ConflictError(f"Another file or folder is in the way of {path}.") from error
        if isinstance(error, NotRegularError) or error.errno == errno.ENXIO:
            raise ConflictError(f"{path} is neither a file nor a folder.") from error
        if isinstance(error, BlockingIOError):
            raise ConflictError(f"A program has {path} locked. Try again later.") from error
        raise


@router.get("")
async def list_folder(services: PresentServices, path: AnyPath = "") -> list[FileEntry]:
    with _explain_faults(path):
        return await asyncio.to_thread(listing.list_entries, services.workspace, path)


@router.get("/content")
async def read_content(services: PresentServices, path: FilePath) -> FileContent:
    with _explain_faults(path):
        return await asyncio.to_thread(listing.preview, services.workspace, path)


@router.get("/download", response_class=Response, responses={200: {"content": {"*/*": {}}}, 413: {}})
async def download_path(services: PresentServices, path: FilePath) -> Response:
    with _explain_faults(path):
        return await download.download(services.workspace, path)


@router.post("", status_code=201, responses={400: {}, 409: {}, 413: {}}, openapi_extra=_UPLOAD)
async def upload_files(
    request: Request, services: PresentServices, subdir: AnyPath = "", *, replace: bool = False
) -> Uploaded:
    with _explain_faults(subdir):
        content_type = request.headers.get("content-type", "")
        limit = services.max_upload_bytes
        paths = await upload.receive(
            services.workspace,
            subdir,
            content_type,
            request.stream(),
            limit,
            services.keep_alive.disk,
            replaces=replace,
        )
        await asyncio.to_thread(services.changes.leave_out, paths)
        return Uploaded(uploaded=paths)


@router.get("/text")
async def read_text(services: PresentServices, path: FilePath) -> TextFile:
    with _explain_faults(path):
        return await asyncio.to_thread(editing.read_text, services.workspace, path)


@router.put("/text", responses={412: {}, 413: {}})
async def save_text(services: PresentServices, body: SaveText) -> SavedText:
    with _explain_faults(body.path):
        await services.keep_alive.disk.demand(len(body.content))
        saved = await asyncio.to_thread(editing.save_text, services.workspace, body.path, body.content, body.if_match)
        await asyncio.to_thread(services.changes.leave_out, [saved.path])
        return saved


@router.post("/move")
async def move(services: PresentServices, body: MovePath) -> ChangedPath:
    with _explain_faults(body.source):
        paths = await asyncio.to_thread(editing.move, services.workspace, body.source, body.destination)
        await asyncio.to_thread(services.changes.leave_out, [*paths])
        return ChangedPath(path=paths[1])


@router.post("/folder", status_code=201)
async def make_folder(services: PresentServices, body: MakeFolder) -> ChangedPath:
    with _explain_faults(body.path):
        return ChangedPath(path=await asyncio.to_thread(editing.make_folder, services.workspace, body.path))


@router.delete("")
async def delete(services: PresentServices, path: FilePath) -> ChangedPath:
    with _explain_faults(path):
        deleted = await asyncio.to_thread(editing.delete, services.workspace, path)
        await asyncio.to_thread(services.changes.leave_out, [deleted])
        return ChangedPath(path=deleted)
