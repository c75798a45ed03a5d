"""Files of folders."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from backend_api.computers.application.upload_files import UploadFiles
from backend_api.folders.application.folder_files import ChangeFolderFiles
from backend_api.folders.domain import MAX_FILE_BYTES, MOST_FILES, FolderId
from backend_api.identity.http.caller import CurrentCaller, address_of
from backend_api.kit.http.files_body import FILES_BODY
from backend_api.kit.http.ports import Options, port
from backend_api.kit.http.schemas import AnswerBody, Time
from backend_api.sandboxes.http.forms import uploaded_files

router = APIRouter(prefix="/api/folders/{folder_id}/files", tags=["folders"], responses={404: {}})


class FolderFileBody(AnswerBody):
    id: str
    name: str
    size: int
    added_at: Time


class FolderFileListBody(AnswerBody):
    """By their names. In each conversation of the folder they are below `folder/`."""

    items: list[FolderFileBody]


_Files = Annotated[ChangeFolderFiles, port("change_folder_files")]


@router.get("")
async def list_folder_files(folder_id: str, caller: CurrentCaller, change_folder_files: _Files) -> FolderFileListBody:
    """List the files that stand in the workspace of each conversation of a folder."""
    found = await change_folder_files.list(FolderId(folder_id), caller.user.id)
    return FolderFileListBody(items=[FolderFileBody.model_validate(one) for one in found])


@router.post(
    "",
    status_code=201,
    responses={413: {}},
    openapi_extra=FILES_BODY,
)
async def add_folder_files(
    folder_id: str,
    request: Request,
    caller: CurrentCaller,
    change_folder_files: _Files,
    upload_files: Annotated[UploadFiles, port("upload_files")],
    options: Options,
) -> FolderFileListBody:
    """Add files to a folder; one takes the place of that which has its name.

    They are put into the workspace of each conversation of the folder, below `folder/`, before its computer is used
    next. What was changed there is not written over: a newer file stands beside it, with a number.
    """
    await change_folder_files.folders.get(FolderId(folder_id), caller.user.id)
    # A workspace takes no larger ones.
    most = min(MAX_FILE_BYTES, options.max_upload_bytes)
    async with (
        upload_files.admitted(caller.user.id, address_of(request)),
        uploaded_files(request, max_files=MOST_FILES, max_file_bytes=most) as files,
    ):
        added = await change_folder_files.add(FolderId(folder_id), caller.user.id, files)
    return FolderFileListBody(items=[FolderFileBody.model_validate(one) for one in added])


@router.delete("/{file_id}", status_code=204)
async def delete_folder_file(
    folder_id: str, file_id: str, caller: CurrentCaller, change_folder_files: _Files
) -> Response:
    """Delete a file of a folder. Workspaces that have it keep it."""
    await change_folder_files.delete(FolderId(folder_id), caller.user.id, file_id)
    return Response(status_code=204)
