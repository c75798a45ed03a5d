"""The queue of messages that wait in a session for the end of the active run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field, StringConstraints

from backend_api.conversations.http.message_schemas import AcceptedBody
from backend_api.identity.http.caller import SESSION_CHANGE, CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.kit.ids import SessionId
from backend_api.message_queue.application import KeepQueue, SendQueued
from backend_api.message_queue.domain import MAX_QUEUED, Held, Queue, Queued

router = APIRouter(prefix="/api/sessions/{session_id}/queue", tags=["queue"])
Kept = Annotated[KeepQueue, port("message_queue")]
QueuedId = Annotated[str, Path(max_length=100)]
ClientId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,100}$")]
Attachment = Annotated[str, StringConstraints(max_length=4096)]


class QueueProblemBody(AnswerBody):
    """The reason it could not be sent in its turn. It is tried again once it is edited, or when the person sends it."""

    code: str
    detail: str


class QueuedMessageBody(AnswerBody):
    id: str
    text: str
    attachments: list[str]
    position: int = Field(description="0 is sent next.")
    added_at: Time
    edited_at: Time | None
    version: int
    problem: QueueProblemBody | None


class QueueBody(AnswerBody):
    items: list[QueuedMessageBody]
    held: Held | None = Field(
        description="How the last run ended where that holds the queue: it goes on once a message that is sent now, "
        "or any other one, was answered."
    )

    @classmethod
    def of(cls, queue: Queue) -> QueueBody:
        """The body for a queue."""
        items = [_body(one, position) for position, one in enumerate(queue.items)]
        return cls(items=items, held=queue.held)


class QueueMessageBody(RequestBody):
    text: str = Field(default="", max_length=200_000)
    attachments: list[Attachment] = Field(default=[], max_length=50)
    client_id: ClientId | None = Field(
        default=None,
        description="A name of the client's own for this message, unique in the session: queued again under it the "
        "message waits once. It is its id, and its `client_message_id` when it is sent.",
    )


class EditQueuedBody(RequestBody):
    version: int = Field(ge=1, description="The one it was read as: 409 where it is another.")
    text: str | None = Field(default=None, max_length=200_000)
    attachments: list[Attachment] | None = Field(default=None, max_length=50)


class QueueOrderBody(RequestBody):
    ids: list[Annotated[str, StringConstraints(max_length=100)]] = Field(max_length=MAX_QUEUED)


def _body(message: Queued, position: int) -> QueuedMessageBody:
    problem = message.problem
    return QueuedMessageBody(
        id=message.id,
        text=message.text,
        attachments=[*message.attachments],
        position=position,
        added_at=message.added_at,
        edited_at=message.edited_at,
        version=message.version,
        problem=QueueProblemBody(code=problem.code, detail=problem.detail) if problem else None,
    )


@router.get("")
async def read_queue(session_id: str, caller: CurrentCaller, message_queue: Kept) -> QueueBody:
    """Return the queue, the next message first. The event `queue.updated` reports changes."""
    return QueueBody.of(await message_queue.read(SessionId(session_id), caller.user.id))


@router.post(
    "",
    status_code=201,
    responses={409: {}},
    openapi_extra=with_example({"text": "Then write the summary.", "client_id": "a-name-of-your-own"}),
)
async def queue_message(
    session_id: str, body: QueueMessageBody, caller: CurrentCaller, message_queue: Kept
) -> QueueBody:
    """Queue a message until the active run, and the messages before it, are answered; in an idle session it is sent at
    once. Returns the queue, without a message that was sent already. 409 if there are 20 already."""
    own = SessionId(session_id)
    await message_queue.add(own, caller.user.id, body.text, body.attachments, body.client_id)
    return QueueBody.of(await message_queue.read(own, caller.user.id))


@router.patch(
    "/{queued_id}",
    responses={409: {}},
    openapi_extra=with_example({"text": "Then write a short summary.", "version": 1}),
)
async def edit_queued_message(
    session_id: str, queued_id: QueuedId, body: EditQueuedBody, caller: CurrentCaller, message_queue: Kept
) -> QueueBody:
    """Edit a queued message; omitted fields stay as they are. 409 if it was edited elsewhere, or is just being sent."""
    own = SessionId(session_id)
    await message_queue.edit(
        own, caller.user.id, queued_id, version=body.version, text=body.text, attachments=body.attachments
    )
    return QueueBody.of(await message_queue.read(own, caller.user.id))


@router.post(
    "/order",
    responses={409: {}},
    dependencies=[SESSION_CHANGE],
    openapi_extra=with_example({"ids": ["the-second", "the-first"]}),
)
async def order_queue(session_id: str, body: QueueOrderBody, caller: CurrentCaller, message_queue: Kept) -> QueueBody:
    """Put all queued messages in this order. 409 if the queue has others by now."""
    return QueueBody.of(await message_queue.order(SessionId(session_id), caller.user.id, body.ids))


@router.post("/{queued_id}/send", status_code=202, responses={409: {}})
async def send_queued_message(
    session_id: str,
    queued_id: QueuedId,
    caller: CurrentCaller,
    send_queued: Annotated[SendQueued, port("send_queued")],
) -> AcceptedBody:
    """Send a queued message now, as one that interrupts: it cuts the current turn of an active run."""
    return AcceptedBody.model_validate(await send_queued.now(SessionId(session_id), caller.user.id, queued_id))


@router.delete(
    "/{queued_id}", status_code=204, response_class=Response, responses={409: {}}, dependencies=[SESSION_CHANGE]
)
async def take_queued_message(session_id: str, queued_id: QueuedId, caller: CurrentCaller, message_queue: Kept) -> None:
    """Remove a queued message: it is never sent. 409 if it is just being sent."""
    await message_queue.remove(SessionId(session_id), caller.user.id, queued_id)
