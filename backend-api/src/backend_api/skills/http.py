"""Routes of the caller's skills: those of everybody, and the caller's own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from python_multipart.multipart import parse_options_header

from backend_api.computers.application.upload_files import UploadFiles
from backend_api.identity.http.caller import CurrentCaller, address_of
from backend_api.kit.errors import InvalidError
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.sandboxes.http.forms import uploaded_files
from backend_api.skills.application.add_skill import AddSkill
from backend_api.skills.application.delete_skill import DeleteSkill
from backend_api.skills.application.install_skill import InstallSkill
from backend_api.skills.application.user_skills import UserSkills
from backend_api.skills.domain.entity import MAX_ARCHIVE_BYTES, MAX_NAME_CHARACTERS, MAX_URL_CHARACTERS

router = APIRouter(prefix="/api/skills", tags=["skills"])
Name = Annotated[str, Path(max_length=MAX_NAME_CHARACTERS)]
_FIELD = "archive"


class InstallBody(RequestBody):
    url: str = Field(
        min_length=1, max_length=MAX_URL_CHARACTERS, description="A public address of a zip archive or a SKILL.md."
    )
    name: str | None = Field(
        default=None,
        max_length=MAX_NAME_CHARACTERS,
        description="Refused if the skill there has another one.",
    )


_BODIES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": [_FIELD],
                    "properties": {_FIELD: {"type": "string", "format": "binary"}},
                }
            },
            "application/json": {
                "schema": InstallBody.model_json_schema(),
                "example": {"url": "https://example.org/skills/invoices.zip"},
            },
        },
    }
}


class SkillBody(AnswerBody):
    name: str
    description: str
    origin: Literal["bundled", "deployment", "user"]
    """The owner; only one's own skills can be deleted."""
    digest: str
    size: int
    files: int
    source: str | None
    """The address it was installed from."""
    created_at: Time | None
    replaces: Literal["bundled", "deployment"] | None
    """The origin of the skill of the same name that it replaces, until it is deleted."""


class WholeSkillBody(SkillBody):
    instructions: str
    """The text of its SKILL.md below the front matter."""
    paths: list[str]


@router.get("")
async def list_skills(
    caller: CurrentCaller, user_skills: Annotated[UserSkills, port("user_skills")]
) -> list[SkillBody]:
    """List the skills that the caller's agents can read."""
    return [SkillBody.model_validate(entry) for entry in await user_skills.entries(caller.user.id)]


@router.get("/{name}", responses={404: {}, 409: {}})
async def get_skill(
    name: Name, caller: CurrentCaller, user_skills: Annotated[UserSkills, port("user_skills")]
) -> WholeSkillBody:
    """Return one skill with its instructions and the paths of its files."""
    entry, skill = await user_skills.with_entry(caller.user.id, name)
    values = SkillBody.model_validate(entry).model_dump()
    return WholeSkillBody(**values, instructions=skill.instructions, paths=list(skill.paths))


@router.post("", status_code=201, responses={409: {}, 413: {}, 422: {}, 429: {}, 502: {}}, openapi_extra=_BODIES)
async def add_skill(
    request: Request,
    caller: CurrentCaller,
    upload_files: Annotated[UploadFiles, port("upload_files")],
    user_skills: Annotated[UserSkills, port("user_skills")],
    install_skill: Annotated[InstallSkill, port("install_skill")],
    add_skill: Annotated[AddSkill, port("add_skill")],
) -> SkillBody:
    """Add a skill from a zip archive or a single SKILL.md, replacing the caller's own of its name: the form has the
    file, or JSON the `url` it is fetched from.

    Anything that is no skill is refused as a whole with the reason, and so is an archive with links, absolute names or
    names that lead out of it, duplicate names, or more than 100 files or 8 MiB.
    """
    user_id = caller.user.id
    async with upload_files.admitted(user_id, address_of(request)):
        if _is_json(request):
            wanted = await _install_body(request)
            made = await install_skill(user_id, wanted.url, name=wanted.name)
        else:
            name, content = await _uploaded(request)
            made = await add_skill(user_id, name, content)
    return SkillBody.model_validate(user_skills.placed(made))


def _is_json(request: Request) -> bool:
    return parse_options_header(request.headers.get("content-type", ""))[0] == b"application/json"


async def _install_body(request: Request) -> InstallBody:
    try:
        return InstallBody.model_validate_json(await request.body())
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in found]) from error


async def _uploaded(request: Request) -> tuple[str, bytes]:
    async with uploaded_files(request, max_files=1, max_file_bytes=MAX_ARCHIVE_BYTES, field=_FIELD) as files:
        file = await anext(files, None)
        if file is None:
            raise InvalidError("Send one file.", field=f"body.{_FIELD}")
        return file.name, b"".join([piece async for piece in file.chunks])


@router.delete("/{name}", status_code=204, responses={403: {}, 404: {}})
async def delete_skill(
    name: Name, caller: CurrentCaller, delete_skill: Annotated[DeleteSkill, port("delete_skill")]
) -> None:
    """Delete one of the caller's own skills. If the server has one of the same name, that applies again."""
    await delete_skill(caller.user.id, name)
