"""The route of what changed in a session's files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from backend_api.changes.application import Changes, ReadChanges
from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody
from backend_api.kit.ids import SessionId

router = APIRouter(prefix="/api/sessions/{session_id}/changes", tags=["files"])


class ChangedFileBody(AnswerBody):
    path: str
    added: int = Field(description="Lines.")
    removed: int = Field(description="Lines.")
    is_known: bool = Field(description="false: only that it changed is known, as by a command.")
    is_removed: bool = Field(description="It was there before, and is deleted.")
    is_cut: bool = Field(description="Its differences are left out, as there are too many.")
    is_rewritten: bool = Field(
        description="It was written over, and what that removed is not known: `removed` does not count it."
    )
    diffs: list[str] = Field(description="Unified. One, unless something unknown happened to the file in between.")


class ChangesBody(AnswerBody):
    after: int = Field(description="The event after which the turns ended.")
    turns: int
    added: int = Field(description="Lines of all files.")
    removed: int = Field(description="Lines of all files.")
    is_partial: bool = Field(description="Too much to read all: of some files only that they changed is known.")
    files: list[ChangedFileBody]

    @classmethod
    def of(cls, changes: Changes) -> ChangesBody:
        """The answer with the sums."""
        return cls(
            after=changes.after,
            turns=changes.turns,
            added=sum(file.added for file in changes.files),
            removed=sum(file.removed for file in changes.files),
            is_partial=changes.is_partial,
            files=[ChangedFileBody.model_validate(file) for file in changes.files],
        )


@router.get("", dependencies=[ONE_PLACE])
async def get_changes(
    session_id: str,
    caller: CurrentCaller,
    changes: Annotated[ReadChanges, port("changes")],
    after: Annotated[
        int | None, Query(ge=0, le=2**53, description="An event's number; without it the session's `read_seq`.")
    ] = None,
) -> ChangesBody:
    """Return the files that changed in turns which ended after an event: each with its one difference from before the
    first of them to after the last. A file that came and went, or is as before, is left out."""
    return ChangesBody.of(await changes(SessionId(session_id), caller.user.id, after))
