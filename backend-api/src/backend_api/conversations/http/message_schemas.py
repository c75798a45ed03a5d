"""Bodies for messages, decisions and answers, and for the results of runs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from backend_api.agent.approvals import MAX_FEEDBACK_CHARACTERS, Decision
from backend_api.agent.events import MAX_FOCUS_CHARACTERS, Decided, PlanVerdict
from backend_api.agent.plans import PlanDecision
from backend_api.agent.questions import MAX_ANSWER_CHARACTERS
from backend_api.conversations.application.event_json import event_fields
from backend_api.conversations.application.follow_run import RunResult
from backend_api.conversations.application.send_message import Message
from backend_api.conversations.http.run_schemas import UsageBody, message_fields
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Words

Identifier = Annotated[str, StringConstraints(min_length=1, max_length=200)]


Answers = Annotated[
    dict[Identifier, Annotated[str, StringConstraints(max_length=MAX_ANSWER_CHARACTERS)]], Field(max_length=20)
]


class AnswersBody(RequestBody):
    """An answer to each part of a question, by the parts' ids."""

    answers: Answers


class DecisionBody(RequestBody):
    """A decision on these calls of an approval; without `call_ids` on all that are left. `approve_all` also ends
    approvals in this session (`enable_approval` becomes false, `asked_tools` empty), and without `call_ids` approves
    all that other agents of the run request; the model reads the feedback of a denial."""

    decision: Decided
    call_ids: list[Identifier] | None = Field(default=None, min_length=1, max_length=200)
    feedback: str | None = Field(default=None, max_length=MAX_FEEDBACK_CHARACTERS)

    def decided(self) -> Decision:
        """The decision as the use case takes it."""
        return Decision(decision=self.decision, call_ids=self.call_ids, feedback=self.feedback)


class DecidedBody(AnswerBody):
    approval_id: str
    call_ids: list[str]
    decision: Decided
    is_waiting: bool
    """Whether the run still waits for something else."""


class AnsweredBody(AnswerBody):
    question_id: str
    is_waiting: bool
    """Whether the run still waits for something else."""


class PlanDecisionBody(RequestBody):
    """A decision on a plan; the model reads the feedback with it."""

    decision: PlanVerdict
    feedback: str | None = Field(default=None, max_length=MAX_FEEDBACK_CHARACTERS)

    def decided(self) -> PlanDecision:
        """The decision as the use case takes it."""
        return PlanDecision(decision=self.decision, feedback=self.feedback)


class PlanDecidedBody(AnswerBody):
    plan_id: str
    decision: PlanVerdict


class MessageBody(RequestBody):
    text: Annotated[str, StringConstraints(min_length=1)]
    attachments: list[Annotated[str, StringConstraints(max_length=4096)]] = Field(default=[], max_length=50)
    client_message_id: Identifier | None = Field(
        default=None,
        description="A name of the client's own for this message, unique in the session: sent again under it the "
        "message is stored once (`duplicate`). 409 `message_differs` where its text or attachments are others then.",
    )
    interrupt: bool = Field(
        default=False,
        description="Cuts the present turn of a run at work, and denies what a run waits for, which then goes on with "
        "this message. Without it a run at work reads the message before its next turn, and one that waits after the "
        "decision.",
    )

    def message(self) -> Message:
        """The message as the use case takes it."""
        return Message(
            text=self.text,
            attachments=tuple(self.attachments),
            client_message_id=self.client_message_id,
            interrupt=self.interrupt,
        )


class AcceptedBody(AnswerBody):
    message_id: str
    run_id: str
    seq: int
    duplicate: bool


class ResumedBody(AnswerBody):
    run_id: str


class CompactBody(RequestBody):
    """`focus` is what the summary should cover most."""

    focus: Words | None = Field(default=None, min_length=1, max_length=MAX_FOCUS_CHARACTERS)


class CompactingBody(AnswerBody):
    run_id: str


class StopBody(RequestBody):
    """`run_id` is the run to stop, so that a late request does not stop the next one."""

    run_id: Identifier | None = None


class StoppedBody(AnswerBody):
    run_id: str


class RunResultBody(AnswerBody):
    run_id: str
    status: str
    reason: str | None
    messages: list[dict[str, Any]]
    usage: UsageBody
    files: list[str]
    waits_for: list[dict[str, Any]]
    """The events `question.asked`, `approval.requested` and `plan.proposed` that a run of status `waiting` waits
    for."""

    @classmethod
    def of(cls, result: RunResult) -> RunResultBody:
        """The body for a run's result."""
        return cls(
            run_id=result.run_id,
            status=result.status,
            reason=result.reason,
            messages=[message_fields(event) for event in result.messages],
            usage=UsageBody.model_validate(result.usage),
            files=result.files,
            waits_for=[event_fields(event) for event in result.waits_for],
        )
