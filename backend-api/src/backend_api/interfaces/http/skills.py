"""Skills of the caller: those of everybody, and the caller's own."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request

from backend_api.domain.errors import InvalidError
from backend_api.domain.skills.entity import MAX_ARCHIVE_BYTES, MAX_NAME_CHARACTERS
from backend_api.interfaces.http.caller import CurrentCaller, address_of
from backend_api.interfaces.http.forms import uploaded_files
from backend_api.interfaces.http.schemas import AnswerBody
from backend_api.interfaces.http.use_cases import Calls

router = APIRouter(prefix="/api/skills", tags=["skills"])
Name = Annotated[str, Path(max_length=MAX_NAME_CHARACTERS)]
_FIELD = "archive"
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": [_FIELD],
                    "properties": {_FIELD: {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}


class SkillBody(AnswerBody):
    name: str
    description: str
    origin: Literal["bundled", "deployment", "user"]
    """Whose it is; only one's own can be deleted."""
    digest: str
    size: int
    files: int
    source: str | None
    """The address it was installed from."""
    created_at: datetime | None


class WholeSkillBody(SkillBody):
    instructions: str
    """What its SKILL.md says below the front matter."""
    paths: list[str]


@router.get("")
async def list_skills(caller: CurrentCaller, calls: Calls) -> list[SkillBody]:
    """List the skills that the caller's agents can read."""
    return [SkillBody.model_validate(entry) for entry in await calls.own_skills.entries(caller.user.id)]


@router.get("/{name}", responses={404: {}})
async def get_skill(name: Name, caller: CurrentCaller, calls: Calls) -> WholeSkillBody:
    """Return one with its instructions and the paths of its files."""
    entry, skill = await calls.own_skills.with_entry(caller.user.id, name)
    told = SkillBody.model_validate(entry).model_dump()
    return WholeSkillBody(**told, instructions=skill.instructions, paths=list(skill.paths))


@router.post("", status_code=201, responses={409: {}, 413: {}, 422: {}, 429: {}}, openapi_extra=_FORM)
async def upload_skill(request: Request, caller: CurrentCaller, calls: Calls) -> SkillBody:
    """Keep a skill from a zip archive or a single SKILL.md, in the place of the caller's own of its name.

    What is no skill is refused whole with the reason, and so is an archive with links, absolute names or names that
    lead out of it, names that are there twice, or more than 100 files or 8 MiB.
    """
    user_id = caller.user.id
    async with (
        calls.upload_files.admitted(user_id, address_of(request)),
        uploaded_files(request, max_files=1, max_file_bytes=MAX_ARCHIVE_BYTES, field=_FIELD) as files,
    ):
        file = await anext(files, None)
        if file is None:
            raise InvalidError("Send one file.", field=f"body.{_FIELD}")
        content = b"".join([piece async for piece in file.chunks])
    return SkillBody.model_validate(await calls.add_skill(user_id, file.name, content))


@router.delete("/{name}", status_code=204, responses={403: {}, 404: {}})
async def delete_skill(name: Name, caller: CurrentCaller, calls: Calls) -> None:
    """Delete one of the caller's own. Where the server has one of the same name, that counts again."""
    await calls.delete_skill(caller.user.id, name)
