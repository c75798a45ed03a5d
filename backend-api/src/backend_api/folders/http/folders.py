"""Routes for folders of conversations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from backend_api.conversations.http.session_schemas import SessionBody
from backend_api.folders.application.change_folders import ChangeFolders
from backend_api.folders.domain import MAX_INSTRUCTIONS_CHARACTERS, MAX_NAME_CHARACTERS, FolderId
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time, Words
from backend_api.kit.ids import SessionId

router = APIRouter(prefix="/api", tags=["folders"])

_NAME = f"From 1 to {MAX_NAME_CHARACTERS} characters."
_INSTRUCTIONS = (
    f"For the agents of all conversations in it, from their next run on; at most {MAX_INSTRUCTIONS_CHARACTERS:,} "
    "characters. Empty: none."
)


class CreateFolderBody(RequestBody):
    name: Words = Field(max_length=1000, description=_NAME)
    instructions: str = Field(default="", max_length=100_000, description=_INSTRUCTIONS)


class UpdateFolderBody(RequestBody):
    """Fields that are left out stay unchanged."""

    name: Words | None = Field(default=None, max_length=1000, description=_NAME)
    instructions: str | None = Field(default=None, max_length=100_000, description=_INSTRUCTIONS)


class MoveBody(RequestBody):
    folder_id: str | None = Field(max_length=200, description="Null: into none.")


class FolderBody(AnswerBody):
    id: str
    name: str
    instructions: str
    created_at: Time


class FolderListBody(AnswerBody):
    """The folders, sorted by name."""

    items: list[FolderBody]


class DeletedFolderBody(AnswerBody):
    """`moved_out` is the number of conversations in it. They stay, and are in no folder."""

    moved_out: int


_Folders = Annotated[ChangeFolders, port("change_folders")]


@router.get("/folders")
async def list_folders(caller: CurrentCaller, change_folders: _Folders) -> FolderListBody:
    """List the caller's folders."""
    found = await change_folders.folders.of_user(caller.user.id)
    return FolderListBody(items=[FolderBody.model_validate(one) for one in found])


@router.post(
    "/folders", status_code=201, openapi_extra=with_example({"name": "Tax return", "instructions": "Answer in German."})
)
async def create_folder(body: CreateFolderBody, caller: CurrentCaller, change_folders: _Folders) -> FolderBody:
    """Create a folder, with instructions for the agents of its conversations."""
    return FolderBody.model_validate(await change_folders.create(caller.user.id, body.name, body.instructions))


@router.patch("/folders/{folder_id}", responses={404: {}}, openapi_extra=with_example({"name": "Tax return 2026"}))
async def update_folder(
    folder_id: str, body: UpdateFolderBody, caller: CurrentCaller, change_folders: _Folders
) -> FolderBody:
    """Rename a folder, or change its instructions."""
    folder = await change_folders.change(
        FolderId(folder_id), caller.user.id, name=body.name, instructions=body.instructions
    )
    return FolderBody.model_validate(folder)


@router.delete("/folders/{folder_id}", responses={404: {}})
async def delete_folder(folder_id: str, caller: CurrentCaller, change_folders: _Folders) -> DeletedFolderBody:
    """Delete a folder with its files. The conversations in it stay, and what their workspaces have."""
    return DeletedFolderBody(moved_out=await change_folders.delete(FolderId(folder_id), caller.user.id))


@router.put("/sessions/{session_id}/folder", responses={404: {}}, openapi_extra=with_example({"folder_id": "f-3c1d"}))
async def move_session(session_id: str, body: MoveBody, caller: CurrentCaller, change_folders: _Folders) -> SessionBody:
    """Put a conversation into a folder, or out of the one it is in."""
    folder_id = None if body.folder_id is None else FolderId(body.folder_id)
    return SessionBody.of(await change_folders.move(SessionId(session_id), caller.user.id, folder_id))
