"""Routes to edit messages, regenerate answers, and show other branches of a conversation."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from backend_api.branches.application import Branches, Edit, Forks
from backend_api.conversations.http.message_schemas import Identifier
from backend_api.conversations.http.session_schemas import SessionBody
from backend_api.identity.http.caller import SESSION_CHANGE, CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody
from backend_api.kit.ids import SessionId

router = APIRouter(prefix="/api/sessions/{session_id}", tags=["runs"], responses={409: {}})
Use = Annotated[Branches, port("branches")]
_RUN = "Whether it is answered at once. Else it stands there, and is answered with the next message or `regenerate`."
MAX_BEGINNING = 200
"""Characters of a message by which its branch is told from others."""

_ONCE = (
    "A name of the client's own for this request, unique in the session: sent again under it, it is done once. 409 "
    "`request_differs` where it was another request then."
)


class EditBody(RequestBody):
    text: str
    run: bool = Field(default=True, description=_RUN)
    attachments: list[Annotated[str, StringConstraints(max_length=4096)]] | None = Field(
        default=None, max_length=50, description="Null: those that the message had."
    )
    client_message_id: Identifier | None = Field(
        default=None, description="As of a message: sent again under it the change is made once (`duplicate`)."
    )

    def edit(self) -> Edit:
        """The edit for the use case."""
        attachments = None if self.attachments is None else tuple(self.attachments)
        return Edit(text=self.text, run=self.run, attachments=attachments, client_message_id=self.client_message_id)


class OnceBody(RequestBody):
    client_request_id: Identifier | None = Field(default=None, description=_ONCE)


class WentBody(AnswerBody):
    message_id: str
    run_id: str | None
    seq: int
    duplicate: bool


class UndoneBody(AnswerBody):
    """The text and attachments of the undone message, to be changed and sent again."""

    text: str
    attachments: list[str]


class PathBody(RequestBody):
    message_id: Identifier


class BranchBody(PathBody):
    client_request_id: Identifier | None = Field(default=None, description=_ONCE)


class ShownBody(AnswerBody):
    """`changed` is false if that path was shown already."""

    changed: bool


class ChildBody(AnswerBody):
    message_id: str
    messages: int
    """The number of messages from this one on, including itself."""
    is_shown: bool
    begins: str = Field(description="The beginning of this message, on one line; empty for one of files alone.")


class ForkBody(AnswerBody):
    """The place after this message (null for the beginning) with several branches, or with one that is not shown. They
    stand in the order in which they were begun."""

    after_message_id: str | None
    children: list[ChildBody]


class ForkListBody(AnswerBody):
    items: list[ForkBody]

    @classmethod
    def of(cls, forks: Forks) -> ForkListBody:
        """The answer for forks whose messages all have ids."""
        said = forks.said
        return cls(
            items=[
                ForkBody(
                    after_message_id=said[fork.after_seq].message_id if fork.after_seq in said else None,
                    children=[
                        ChildBody(
                            message_id=said[one.seq].message_id,
                            messages=one.messages,
                            is_shown=one.is_shown,
                            begins=" ".join(said[one.seq].text[: MAX_BEGINNING * 2].split())[:MAX_BEGINNING],
                        )
                        for one in fork.children
                    ],
                )
                for fork in forks.forks
            ]
        )


class DeletedBranchBody(AnswerBody):
    messages: int


@router.post(
    "/messages/{message_id}/edit",
    status_code=202,
    openapi_extra=with_example({"text": "In ten lines, please.", "run": True}),
)
async def edit_message(
    session_id: str, message_id: str, body: EditBody, caller: CurrentCaller, branches: Use
) -> WentBody:
    """Replace one's own message by another version. The former one stays as a branch; files and other effects of its
    work stay as they are. 409 `run_active` while a run has not ended, `attachment_gone` if a file of it no longer
    exists."""
    return WentBody.model_validate(await branches.edit(SessionId(session_id), caller.user.id, message_id, body.edit()))


@router.post(
    "/messages/{message_id}/regenerate",
    status_code=202,
    openapi_extra=with_example({"client_request_id": "0b9d2f6e"}),
)
async def regenerate(
    session_id: str, message_id: str, caller: CurrentCaller, branches: Use, body: OnceBody | None = None
) -> WentBody:
    """Have a message answered once more: this one, or the one that this answer is for. The former answer stays as a
    branch. 409 `run_active` while a run has not ended."""
    request_id = body.client_request_id if body is not None else None
    done = await branches.regenerate(SessionId(session_id), caller.user.id, message_id, request_id)
    return WentBody.model_validate(done)


@router.post(
    "/messages/{message_id}/undo",
    dependencies=[SESSION_CHANGE],
    openapi_extra=with_example({"client_request_id": "0b9d2f6e"}),
)
async def undo(
    session_id: str, message_id: str, caller: CurrentCaller, branches: Use, body: OnceBody | None = None
) -> UndoneBody:
    """Go back to before one's own message. It and all that follows stay as a branch; files and other effects stay as
    they are. Nothing changes if it is not shown. 409 `run_active` while a run has not ended."""
    request_id = body.client_request_id if body is not None else None
    return UndoneBody.model_validate(await branches.undo(SessionId(session_id), caller.user.id, message_id, request_id))


@router.delete("/messages/{message_id}", status_code=204, response_class=Response, dependencies=[SESSION_CHANGE])
async def withdraw_message(session_id: str, message_id: str, caller: CurrentCaller, branches: Use) -> None:
    """Take back a message that was sent while the agent works, before it has read it: it is no part of the conversation
    then (`message.withdrawn`). 409 `message_read` once it has read it, and for the message that began the run."""
    await branches.withdraw(SessionId(session_id), caller.user.id, message_id)


@router.put("/path", dependencies=[SESSION_CHANGE], openapi_extra=with_example({"message_id": "6f1c0a52"}))
async def show_path(session_id: str, body: PathBody, caller: CurrentCaller, branches: Use) -> ShownBody:
    """Show the newest path that has this message; the model reads that path from then on. 409 `run_active` while a run
    has not ended."""
    return ShownBody(changed=await branches.show(SessionId(session_id), caller.user.id, body.message_id))


@router.post("/branch", status_code=201, openapi_extra=with_example({"message_id": "6f1c0a52"}))
async def branch(session_id: str, body: BranchBody, caller: CurrentCaller, branches: Use) -> SessionBody:
    """Begin a new conversation with everything up to this message. It has a computer of its own, without the files of
    this one. 409 `run_active` for a message of the current turn; 503 `branch_begins` while the same request copies."""
    begun = await branches.branch(SessionId(session_id), caller.user.id, body.message_id, body.client_request_id)
    return SessionBody.of(begun)


@router.get("/branches")
async def list_branches(session_id: str, caller: CurrentCaller, branches: Use) -> ForkListBody:
    """List the places where the conversation shown has other branches."""
    return ForkListBody.of(await branches.forks(SessionId(session_id), caller.user.id))


@router.delete("/branches/{message_id}", dependencies=[SESSION_CHANGE])
async def delete_branch(
    session_id: str,
    message_id: str,
    caller: CurrentCaller,
    branches: Use,
    messages: Annotated[
        int | None,
        Query(ge=0, description="How many it is known to have: 409 `branch_grew` where it has another number."),
    ] = None,
) -> DeletedBranchBody:
    """Delete a branch that is not shown: this message and all that follow it can't be shown any more. Their records are
    deleted with the conversation. 409 `branch_shown` if it is shown."""
    count = await branches.delete(SessionId(session_id), caller.user.id, message_id, messages)
    return DeletedBranchBody(messages=count)
