"""Routes of the files panel."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from contracts.sandboxes import Scope
from contracts.tools import FileContent, FileEntry, Uploaded
from tool_api.errors import ConflictError, NotFoundError, PathForbiddenError
from tool_api.files import download, listing, upload
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
_CLOSED = frozenset({errno.EACCES, errno.EPERM})


@contextmanager
def _explain_faults(path: str) -> Generator[None]:
    """What the agent made of its files is no fault of ours."""
    try:
        yield
    except OSError as error:
        if error.errno in _NOT_THERE:
            raise NotFoundError(f"There is no {path} in the workspace.") from error
        if error.errno in _CLOSED:
            raise PathForbiddenError(f"The permissions of {path} do not allow reading it.") from error
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
