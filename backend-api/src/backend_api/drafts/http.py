"""Routes of a conversation's draft."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from backend_api.drafts.application import KeepDraft
from backend_api.drafts.domain import (
    MAX_FILES,
    MAX_PATH_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    Draft,
    DraftChangedError,
    Written,
)
from backend_api.identity.http.caller import SESSION_CHANGE, CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.kit.ids import SessionId
from contracts.errors import PROBLEM_MEDIA_TYPE
from service_kit.problems import domain_problem

router = APIRouter(prefix="/api/sessions/{session_id}/draft", tags=["drafts"])
Kept = Annotated[KeepDraft, port("drafts")]
_CHANGED: dict[str, Any] = {
    "description": "It was changed since it was read; `draft` is what it is now.",
    "content": {
        PROBLEM_MEDIA_TYPE: {
            "schema": {
                "allOf": [
                    {"$ref": "#/components/schemas/Problem"},
                    {"type": "object", "properties": {"draft": {"$ref": "#/components/schemas/DraftBody"}}},
                ]
            }
        }
    },
}


class DraftBody(AnswerBody):
    text: str
    files: list[str] = Field(description="Paths in the workspace, to be attached to the message.")
    version: int = Field(description="Grows with each change; 0 if nothing was ever written.")
    updated_at: Time | None

    @classmethod
    def of(cls, draft: Draft) -> DraftBody:
        """The answer for a draft."""
        written = draft.written
        return cls(text=written.text, files=[*written.files], version=draft.version, updated_at=draft.updated_at)


class SaveDraftBody(RequestBody):
    text: str = Field(default="", max_length=MAX_TEXT_CHARACTERS)
    files: list[Annotated[str, StringConstraints(min_length=1, max_length=MAX_PATH_CHARACTERS)]] = Field(
        default=[], max_length=MAX_FILES
    )
    version: int = Field(ge=0, le=2**53, description="The one it was read as: 409 where it is another.")


@router.get("")
async def get_draft(session_id: str, caller: CurrentCaller, drafts: Kept) -> DraftBody:
    """Return what the user is writing to the session, as it was saved last; nothing of it is in the session's
    events."""
    return DraftBody.of(await drafts.read(SessionId(session_id), caller.user.id))


@router.put(
    "",
    response_model=DraftBody,
    responses={409: _CHANGED},
    dependencies=[SESSION_CHANGE],
    openapi_extra=with_example({"text": "Compare this with the figures of", "files": ["figures.csv"], "version": 3}),
)
async def save_draft(session_id: str, body: SaveDraftBody, caller: CurrentCaller, drafts: Kept) -> DraftBody | Response:
    """Save what the user is writing, over the version that was read. 409 with the newer draft if it was changed since;
    nothing is overwritten then."""
    written = Written(text=body.text, files=tuple(body.files))
    return await _saved(drafts, SessionId(session_id), caller, written, body.version)


@router.delete("", response_model=DraftBody, responses={409: _CHANGED}, dependencies=[SESSION_CHANGE])
async def clear_draft(
    session_id: str,
    caller: CurrentCaller,
    drafts: Kept,
    version: Annotated[int, Query(ge=0, le=2**53, description="The one it was read as: 409 where it is another.")],
) -> DraftBody | Response:
    """Clear the draft in the version that was read, as its message was sent or discarded. 409 with the newer draft if
    it was changed since; nothing is lost then."""
    return await _saved(drafts, SessionId(session_id), caller, Written(), version)


async def _saved(
    drafts: KeepDraft, session_id: SessionId, caller: CurrentCaller, written: Written, version: int
) -> DraftBody | Response:
    try:
        return DraftBody.of(await drafts.save(session_id, caller.user.id, written, version))
    except DraftChangedError as changed:
        response = domain_problem(changed)
        body = json.loads(bytes(response.body)) | {"draft": DraftBody.of(changed.draft).model_dump(mode="json")}
        return Response(json.dumps(body), response.status_code, media_type=PROBLEM_MEDIA_TYPE)
