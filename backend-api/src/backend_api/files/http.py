"""Routes with which a user edits files, and makes, moves and deletes files and folders."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field, StringConstraints

from backend_api.files.application import EditFiles
from backend_api.files.domain import NotEditable
from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody
from backend_api.kit.ids import SessionId
from contracts.files import MAX_TEXT_BYTES

router = APIRouter(prefix="/api/sessions/{session_id}/files", tags=["files"], responses={403: {}, 409: {}})

_Edit = Annotated[EditFiles, port("edit_files")]
_Path = Annotated[str, Query(min_length=1, max_length=4096)]
_GivenPath = Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class TextFileBody(AnswerBody):
    path: str
    name: str
    size: int
    content: str | None = Field(description="The whole text; null for a file that can't be edited.")
    etag: str | None
    encoding: str | None
    language: str | None
    reason: NotEditable | None = Field(description="Why the file can't be edited.")


class SaveTextBody(RequestBody):
    path: _GivenPath
    content: Annotated[str, StringConstraints(max_length=MAX_TEXT_BYTES)]
    if_match: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        description="The etag that the file was read with; null for a file that is not there yet."
    )


class SavedTextBody(AnswerBody):
    path: str
    size: int
    etag: str


class MovePathBody(RequestBody):
    source: _GivenPath
    destination: _GivenPath = Field(description="The path it gets; folders on the way are made, nothing is replaced.")


class MakeFolderBody(RequestBody):
    path: _GivenPath


class ChangedPathBody(AnswerBody):
    path: str


@router.get("/text", dependencies=[ONE_PLACE])
async def read_text(session_id: str, caller: CurrentCaller, files: _Edit, path: _Path) -> TextFileBody:
    """Return a whole text file of at most 1 MiB with its etag, to be edited."""
    return TextFileBody.model_validate(await files.read(SessionId(session_id), caller.user.id, path))


@router.put(
    "/text",
    responses={412: {}, 413: {}},
    dependencies=[ONE_PLACE],
    openapi_extra=with_example(
        {
            "path": "notes.md",
            "content": "# Notes",
            "if_match": "1b4f0e9851971998e732078544c96b36",
        }
    ),
)
async def save_text(session_id: str, body: SaveTextBody, caller: CurrentCaller, files: _Edit) -> SavedTextBody:
    """Save a text file. 412 if it was changed since it was read, and then nothing is saved."""
    saved = await files.save(SessionId(session_id), caller.user.id, body.path, body.content, body.if_match)
    return SavedTextBody.model_validate(saved)


@router.post("/move", openapi_extra=with_example({"source": "notes.md", "destination": "old/notes.md"}))
async def move_path(session_id: str, body: MovePathBody, caller: CurrentCaller, files: _Edit) -> ChangedPathBody:
    """Rename or move a file or folder. 409 if the destination is taken."""
    moved = await files.move(SessionId(session_id), caller.user.id, body.source, body.destination)
    return ChangedPathBody(path=moved)


@router.post("/folder", status_code=201, openapi_extra=with_example({"path": "old"}))
async def make_folder(session_id: str, body: MakeFolderBody, caller: CurrentCaller, files: _Edit) -> ChangedPathBody:
    """Make a folder. 409 if the path is taken."""
    return ChangedPathBody(path=await files.make_folder(SessionId(session_id), caller.user.id, body.path))


@router.delete("")
async def delete_path(session_id: str, caller: CurrentCaller, files: _Edit, path: _Path) -> ChangedPathBody:
    """Delete a file, or a folder with everything in it."""
    return ChangedPathBody(path=await files.delete(SessionId(session_id), caller.user.id, path))
