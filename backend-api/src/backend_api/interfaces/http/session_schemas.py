"""Bodies of the session routes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from backend_api.application.conversation.event_json import event_fields, format_time
from backend_api.application.conversation.follow_run import RunResult
from backend_api.application.conversation.read_state import State
from backend_api.application.conversation.send_message import Message
from backend_api.domain.agent.approvals import MAX_FEEDBACK_CHARACTERS, Decision
from backend_api.domain.agent.events import MAX_FOCUS_CHARACTERS, Decided, Event, PlanVerdict, StepStatus
from backend_api.domain.agent.plans import PlanDecision
from backend_api.domain.agent.questions import MAX_ANSWER_CHARACTERS
from backend_api.domain.conversation.entity import Run, Session
from backend_api.domain.sandbox.entity import SandboxStatus
from backend_api.interfaces.http.schemas import AnswerBody, RequestBody, Time

_ONLY_NULL = "Not supported by this server yet: any value but null is refused."


ToolName = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class OptionsBody(RequestBody):
    """Options of a session. One that would have no effect is refused, so that nobody relies on it."""

    enable_teams: bool | None = Field(default=None, description=_ONLY_NULL)
    enable_tracing: bool | None = Field(default=None, description=_ONLY_NULL)
    enable_approval: bool | None = Field(
        default=None,
        description="true: calls of tools that change something wait for a person's approval (`approval.requested`), "
        "from the next time a run begins or goes on after a wait; null or false: they run at once.",
    )
    enable_plan_mode: bool | None = Field(
        default=None,
        description="true: the agent only reads until a plan of it is approved (`plan.proposed`), which makes it "
        "false; false: it works; null: as the server has it.",
    )
    enable_thinking: bool | None = Field(
        default=None,
        description="true: the model is asked to think; false: it is not, and no thinking is shown or kept; null: as "
        "the server and the model have it. Refused where the model (`thinking` of GET /api/models) can't do it.",
    )
    thinking_effort: Literal["high", "max"] | None = Field(
        default=None, description="How much the model thinks, with enable_thinking: true; null: the server's default."
    )
    max_turns: int | None = Field(
        default=None,
        ge=1,
        le=500,
        description="Maximum model calls of a run, its sub-agents' included; null: the server's default.",
    )

    denied_tools: list[ToolName] | None = Field(
        default=None,
        max_length=200,
        description="Tools of GET /api/tools, by name or glob (`browser_*`), the agent may not use here; null: none. "
        "Of a tool that several rules name the strictest counts: denied, then asked, then allowed.",
    )
    asked_tools: list[ToolName] | None = Field(
        default=None,
        max_length=200,
        description="Tools, by name or glob, whose calls wait for approval even without enable_approval; null: none. "
        "What only reads never asks.",
    )
    allowed_tools: list[ToolName] | None = Field(
        default=None,
        max_length=200,
        description="Tools, by name or glob, whose calls run without approval though enable_approval is true; null: "
        "none.",
    )

    @field_validator("enable_teams", "enable_tracing")
    @classmethod
    def _acts(cls, value: object, info: ValidationInfo) -> object:
        if value is not None:
            message = "{option} is not supported by this server yet. Leave it out."
            raise PydanticCustomError("not_in_effect", message, {"option": info.field_name})
        return value

    def chosen(self) -> dict[str, Any]:
        """Only what was chosen."""
        return self.model_dump(exclude_none=True)

    def changes(self) -> dict[str, Any]:
        """What was sent; null takes a choice back."""
        return self.model_dump(exclude_unset=True)


class CreateSessionBody(RequestBody):
    title: str | None = Field(default=None, max_length=1000)
    model: str | None = Field(default=None, max_length=200)
    preset: str | None = Field(default=None, max_length=200)
    options: OptionsBody = OptionsBody()


class UpdateSessionBody(RequestBody):
    title: str | None = Field(default=None, max_length=1000)
    model: str | None = Field(default=None, max_length=200)
    options: OptionsBody | None = None
    pinned: bool | None = None
    archived: bool | None = None

    def changes(self) -> dict[str, Any]:
        """The fields that were sent; null takes back the model or an option, and changes nothing else."""
        sent = {name: getattr(self, name) for name in self.model_fields_set}
        if isinstance(options := sent.get("options"), OptionsBody):
            sent["options"] = options.changes()
        return {name: value for name, value in sent.items() if value is not None or name == "model"}


class SessionBody(AnswerBody):
    id: str
    title: str
    status: str
    model: str | None
    options: dict[str, Any]
    pinned: bool
    archived: bool
    created_at: Time
    updated_at: Time
    last_seq: int
    read_seq: int
    unread: int
    sandbox: str | None

    @classmethod
    def of(cls, session: Session) -> SessionBody:
        """The answer for a session."""
        return cls.model_validate(session)


class ReadBody(RequestBody):
    seq: int = Field(ge=0, le=2**53)


class SessionPageBody(AnswerBody):
    items: list[SessionBody]
    next_cursor: str | None


Identifier = Annotated[str, StringConstraints(min_length=1, max_length=200)]


Answers = Annotated[
    dict[Identifier, Annotated[str, StringConstraints(max_length=MAX_ANSWER_CHARACTERS)]], Field(max_length=20)
]


class AnswersBody(RequestBody):
    """An answer to each of a question's parts, by their ids."""

    answers: Answers


class DecisionBody(RequestBody):
    """A decision on these calls of an approval; without `call_ids` on all that are left. `approve_all` also ends asking
    in this session (`enable_approval` becomes false, `asked_tools` empty), and without `call_ids` approves all that
    other agents of the run ask for; the model reads the feedback of a denial."""

    decision: Decided
    call_ids: list[Identifier] | None = Field(default=None, min_length=1, max_length=200)
    feedback: str | None = Field(default=None, max_length=MAX_FEEDBACK_CHARACTERS)

    def decided(self) -> Decision:
        """What the use case takes."""
        return Decision(decision=self.decision, call_ids=self.call_ids, feedback=self.feedback)


class DecidedBody(AnswerBody):
    approval_id: str
    call_ids: list[str]
    decision: Decided
    is_waiting: bool
    """Whether the run waits for something more."""


class PlanDecisionBody(RequestBody):
    """A decision on a plan; the model reads the feedback with it."""

    decision: PlanVerdict
    feedback: str | None = Field(default=None, max_length=MAX_FEEDBACK_CHARACTERS)

    def decided(self) -> PlanDecision:
        """What the use case takes."""
        return PlanDecision(decision=self.decision, feedback=self.feedback)


class PlanDecidedBody(AnswerBody):
    plan_id: str
    decision: PlanVerdict


class MessageBody(RequestBody):
    text: Annotated[str, StringConstraints(min_length=1)]
    attachments: list[Annotated[str, StringConstraints(max_length=4096)]] = Field(default=[], max_length=50)
    client_message_id: Identifier | None = None
    interrupt: bool = False

    def message(self) -> Message:
        """What the use case takes."""
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
    """`focus` is what the summary tells most of."""

    focus: str | None = Field(default=None, min_length=1, max_length=MAX_FOCUS_CHARACTERS)


class CompactingBody(AnswerBody):
    run_id: str


class StoppedBody(AnswerBody):
    run_id: str


class EventPageBody(AnswerBody):
    items: list[dict[str, Any]]
    last_seq: int
    has_more: bool


def said(event: Event) -> dict[str, Any]:
    """A message as a flat object with the role that said it."""
    fields = event_fields(event)
    role = "user" if event.payload.type == "message.user" else "assistant"
    return {"role": role} | {key: value for key, value in fields.items() if key not in ("type", "session_id")}


def run_fields(run: Run) -> dict[str, Any]:
    """A run as JSON."""
    return {
        "id": run.id,
        "message_id": run.message_id,
        "status": run.status.value,
        "attempt": run.attempt,
        "stop_requested": run.stop_requested,
        "created_at": format_time(run.created_at),
        "started_at": format_time(run.started_at) if run.started_at else None,
        "reason": run.reason,
    }


class UsageBody(AnswerBody):
    input: int
    cached: int
    output: int
    thinking: int
    cache_write: int
    cost: float | None
    """In US dollars, of all of it; null as soon as a part of it has no known price."""
    known_cost: float
    """Of the part whose price is known."""
    by_model: dict[str, dict[str, int]]


class SandboxBody(AnswerBody):
    seq: int
    """The session's last event before the sandbox was looked at: no event up to it tells anything newer."""
    status: str
    reason: str | None
    retryable: bool
    has_desktop: bool
    expires_at: Time | None
    ends_at: Time | None
    queue_position: int | None
    notice: str | None

    @classmethod
    def of(cls, status: SandboxStatus, *, seq: int) -> SandboxBody:
        """The answer for a status that was read after event `seq` was stored."""
        return cls(
            seq=seq,
            status=status.status,
            reason=status.reason,
            retryable=status.retryable,
            has_desktop=status.has_desktop,
            expires_at=status.expires_at,
            ends_at=status.ends_at,
            queue_position=status.queue_position,
            notice=status.notice,
        )


class PlanStepBody(AnswerBody):
    title: str
    status: StepStatus
    result: str


class PlanStateBody(AnswerBody):
    steps: list[PlanStepBody]


class StateBody(AnswerBody):
    session: SessionBody
    messages: list[dict[str, Any]]
    has_more: bool
    """Whether older messages stand before these, to be read as pages of events."""
    run: dict[str, Any] | None
    plan: PlanStateBody | None
    """What the agent is about to do and did, as `plan.updated` told last."""
    tasks: tuple[dict[str, Any], ...] = ()
    todos: tuple[dict[str, Any], ...] = ()
    resources: tuple[dict[str, Any], ...] = ()
    usage: UsageBody
    sandbox: SandboxBody
    last_seq: int

    @classmethod
    def of(cls, state: State) -> StateBody:
        """The answer for a state."""
        return cls(
            session=SessionBody.of(state.session),
            messages=[said(event) for event in state.messages],
            has_more=state.has_more,
            run=run_fields(state.run) if state.run else None,
            plan=PlanStateBody.model_validate(state.plan) if state.plan else None,
            usage=UsageBody.model_validate(state.usage),
            sandbox=SandboxBody.of(state.sandbox, seq=state.session.last_seq),
            last_seq=state.session.last_seq,
        )


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
        """The answer for a run that ended."""
        return cls(
            run_id=result.run_id,
            status=result.status,
            reason=result.reason,
            messages=[said(event) for event in result.messages],
            usage=UsageBody.model_validate(result.usage),
            files=result.files,
            waits_for=[event_fields(event) for event in result.waits_for],
        )
