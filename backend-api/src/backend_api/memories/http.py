"""Routes for the caller's memories."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Path, Response
from pydantic import Field

from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody
from backend_api.memories.application import ChangeMemories
from backend_api.memories.domain import MAX_FILE_BYTES, MAX_USER_BYTES, Memories
from backend_api.memories.errors import MemoryChangedError, MemoryDisabledError

router = APIRouter(prefix="/api/memories", tags=["memories"])
Name = Annotated[str, Path(max_length=300, description="Below `/memories/`, with slashes.")]
IfMatch = Annotated[str | None, Header(max_length=100, description="The `etag` it was read with.")]
Change = Annotated[ChangeMemories, port("memories")]
ANY = "*"


class MemoryBody(AnswerBody):
    path: str
    content: str
    size: int
    etag: str


class ListedMemoryBody(AnswerBody):
    path: str
    size: int
    etag: str


class MemoryListBody(AnswerBody):
    is_enabled: bool = Field(description="false: this server keeps none (`ENABLE_MEMORY`).")
    items: list[ListedMemoryBody]
    size: int = Field(description="Of all texts and names together.")
    max_size: int
    max_file_size: int


class WriteMemoryBody(RequestBody):
    content: str = Field(max_length=MAX_USER_BYTES)
    if_match: str | None = Field(
        default=None,
        max_length=100,
        description="As the header If-Match, which counts more: the `etag` it was read with, or `*` for any. Without "
        "either no memory may have the name yet.",
    )


@router.get("")
async def list_memories(caller: CurrentCaller, memories: Change) -> MemoryListBody:
    """List all memories by name."""
    try:
        present = await memories.read(caller.user.id)
    except MemoryDisabledError:
        return _list_body(None)
    return _list_body(present)


@router.get("/{path:path}")
async def get_memory(path: Name, caller: CurrentCaller, memories: Change, response: Response) -> MemoryBody:
    """Return a memory, with its ETag."""
    return _answer(await memories.read(caller.user.id), path, response)


@router.put(
    "/{path:path}",
    responses={409: {}, 412: {}, 413: {}},
    openapi_extra=with_example({"content": "Answers in British English, and in short."}),
)
async def write_memory(
    path: Name,
    body: WriteMemoryBody,
    caller: CurrentCaller,
    memories: Change,
    response: Response,
    if_match: IfMatch = None,
) -> MemoryBody:
    """Write a memory. With If-Match it replaces the version that was read: 412 if it was changed since. Without, it is
    new: 409 if the name is taken."""
    etag = _etag(if_match) or _etag(body.if_match)

    def change(present: Memories) -> Memories:
        if etag is None:
            return present.created(path, body.content)
        return present.written(path, body.content, _resolve_etag(present, path, etag))

    return _answer(await memories(caller.user.id, change), path, response)


@router.delete("/{path:path}", status_code=204, responses={412: {}})
async def delete_memory(path: Name, caller: CurrentCaller, memories: Change, if_match: IfMatch = None) -> Response:
    """Delete a memory in the version that If-Match names: 412 if it was changed since."""
    etag = _etag(if_match)

    def change(present: Memories) -> Memories:
        present.file(path)  # a missing memory can't have been read
        if etag is None:
            raise MemoryChangedError(
                "Send If-Match with the ETag it was read with, or * to delete it whatever it says."
            )
        return present.deleted(path, _resolve_etag(present, path, etag))

    await memories(caller.user.id, change)
    return Response(status_code=204)


def _list_body(present: Memories | None) -> MemoryListBody:
    return MemoryListBody(
        is_enabled=present is not None,
        items=[ListedMemoryBody.model_validate(one) for one in present.files] if present else [],
        size=present.size if present else 0,
        max_size=MAX_USER_BYTES,
        max_file_size=MAX_FILE_BYTES,
    )


def _answer(present: Memories, path: str, response: Response) -> MemoryBody:
    file = present.file(path)
    response.headers["ETag"] = f'"{file.etag}"'
    return MemoryBody.model_validate(file)


def _resolve_etag(present: Memories, path: str, etag: str) -> str:
    return present.file(path).etag if etag == ANY else etag


def _etag(given: str | None) -> str | None:
    """The ETag as it stands in a body, without the quotes of a header."""
    return given.strip().removeprefix("W/").strip('"') if given else None
