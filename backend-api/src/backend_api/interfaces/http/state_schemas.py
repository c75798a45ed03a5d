"""Bodies of what a session is at: its messages, run, plan, todos, commands, opened ports, usage and sandbox."""

from __future__ import annotations

from typing import Any, Literal

from backend_api.application.conversation.event_json import event_fields, format_time
from backend_api.application.conversation.read_state import State
from backend_api.domain.agent.events import Event, StepStatus, TaskStatus, TodoStatus
from backend_api.domain.conversation.entity import Run
from backend_api.domain.sandbox.entity import SandboxStatus
from backend_api.interfaces.http.background_schemas import BackgroundCommandBody
from backend_api.interfaces.http.port_schemas import OpenedPortBody
from backend_api.interfaces.http.schemas import AnswerBody, Time
from backend_api.interfaces.http.session_schemas import SessionBody


def message_fields(event: Event) -> dict[str, Any]:
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
    queue_reason: Literal["capacity", "user_limit"] | None
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
            queue_reason=status.queue_reason,
            notice=status.notice,
        )


class PlanStepBody(AnswerBody):
    title: str
    status: StepStatus
    result: str


class PlanStateBody(AnswerBody):
    steps: list[PlanStepBody]


class TodoBody(AnswerBody):
    content: str
    status: TodoStatus
    active_form: str


class TaskBody(AnswerBody):
    id: str
    subject: str
    description: str
    active_form: str
    status: TaskStatus
    owner: str
    blocked_by: list[str]
    blocks: list[str]
    metadata: dict[str, Any]


class PortResourceBody(OpenedPortBody):
    """`GET .../ports` tells the same, and `POST .../ports/{id}/address` answers where a browser opens it."""

    kind: Literal["port"] = "port"


class StateBody(AnswerBody):
    session: SessionBody
    messages: list[dict[str, Any]]
    has_more: bool
    """Whether older messages stand before these, to be read as pages of events."""
    run: dict[str, Any] | None
    plan: PlanStateBody | None
    """What the agent is about to do and did, as `plan.updated` told last."""
    tasks: list[TaskBody]
    """The session's, which its agents share, as `tasks.updated` told last."""
    todos: list[TodoBody]
    """The agent's own working list, as `todos.updated` told last."""
    background: list[BackgroundCommandBody]
    """The commands that run in the background of its sandbox; `GET .../background` has those that ended, too."""
    resources: list[PortResourceBody]
    """What is open of its sandbox to the person's browser, as `resources.updated` tells with each change; the one
    opened last comes last."""
    usage: UsageBody
    sandbox: SandboxBody
    last_seq: int

    @classmethod
    def of(cls, state: State) -> StateBody:
        """The answer for a state."""
        return cls(
            session=SessionBody.of(state.session),
            messages=[message_fields(event) for event in state.messages],
            has_more=state.has_more,
            run=run_fields(state.run) if state.run else None,
            plan=PlanStateBody.model_validate(state.plan) if state.plan else None,
            tasks=[TaskBody.model_validate(task) for task in state.tasks],
            todos=[TodoBody.model_validate(todo) for todo in state.todos],
            background=[BackgroundCommandBody.of(command) for command in state.background],
            resources=[PortResourceBody.model_validate(port) for port in state.ports],
            usage=UsageBody.model_validate(state.usage),
            sandbox=SandboxBody.of(state.sandbox, seq=state.session.last_seq),
            last_seq=state.session.last_seq,
        )
