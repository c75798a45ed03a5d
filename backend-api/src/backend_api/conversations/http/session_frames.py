"""The frames that a client may send on a session's socket."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StringConstraints, TypeAdapter, field_validator
from pydantic_core import PydanticCustomError

from backend_api.conversations.http.message_schemas import (
    Answers,
    DecisionBody,
    Identifier,
    MessageBody,
    PlanDecisionBody,
)
from backend_api.conversations.http.option_schemas import OptionsBody
from backend_api.kit.http.schemas import RequestBody


class AuthFrame(RequestBody):
    """The first frame authenticates; a later one brings a newer token of the same user, under which the socket
    continues."""

    type: Literal["auth"]
    token: Annotated[str, StringConstraints(max_length=8192)]


class MessageFrame(MessageBody):
    type: Literal["message"]


class InterruptFrame(MessageBody):
    """A message that cuts the turn of an active run, or denies what it waits for. A message without that is a message
    frame."""

    type: Literal["interrupt"]
    interrupt: bool = True

    @field_validator("interrupt")
    @classmethod
    def _interrupts(cls, value: bool) -> bool:
        if not value:
            raise PydanticCustomError("contradiction", "An interrupt frame interrupts. Send a message frame instead.")
        return value


class CancelFrame(RequestBody):
    type: Literal["cancel"]


class ApprovalFrame(DecisionBody):
    type: Literal["approval"]
    approval_id: Identifier


class PlanFrame(PlanDecisionBody):
    type: Literal["plan"]
    plan_id: Identifier


class AnswerFrame(RequestBody):
    type: Literal["answer"]
    question_id: Identifier
    answers: Answers


class OptionsFrame(OptionsBody):
    """Changes only the given fields; null resets an option, the model or the preset."""

    type: Literal["options"]
    model: str | None = Field(default=None, max_length=200)
    preset: str | None = Field(default=None, max_length=200)

    def changes(self) -> dict[str, Any]:
        """The changes of the session."""
        beside = ("model", "preset")
        options = self.model_dump(exclude={"type", *beside}, exclude_unset=True)
        chosen = {name: getattr(self, name) for name in beside if name in self.model_fields_set}
        return chosen | ({"options": options} if options else {})


class PingFrame(RequestBody):
    type: Literal["ping"]


Command = (
    MessageFrame | InterruptFrame | CancelFrame | ApprovalFrame | PlanFrame | AnswerFrame | OptionsFrame | PingFrame
)
Saying = Command | AuthFrame
FRAMES: TypeAdapter[Saying] = TypeAdapter(Annotated[Saying, Discriminator("type")])
