"""Bodies of the state of a session: its messages, run, plan, todos, commands, opened ports, usage and sandbox."""

from __future__ import annotations

from typing import Any, Literal

from backend_api.agent.events import StepStatus, TodoStatus
from backend_api.background.http.background_schemas import BackgroundCommandBody
from backend_api.conversations.http.run_schemas import UsageBody, message_fields, run_fields
from backend_api.conversations.http.session_schemas import SessionBody
from backend_api.kit.http.schemas import AnswerBody
from backend_api.message_queue.http import QueueBody
from backend_api.previews.http.port_schemas import OpenedPortBody
from backend_api.resources.http import KeptResourceBody
from backend_api.resources.task_bodies import TaskBody
from backend_api.sandboxes.http.sandbox_schemas import SandboxBody
from backend_api.session_state.application import State


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


class PortResourceBody(OpenedPortBody):
    """The same as in `GET .../ports`; `POST .../ports/{id}/address` returns the address at which a browser opens it."""

    kind: Literal["port"] = "port"


class StateBody(AnswerBody):
    session: SessionBody
    messages: list[dict[str, Any]]
    has_more: bool
    """Whether there are older messages, to be read as pages of events."""
    run: dict[str, Any] | None
    plan: PlanStateBody | None
    """The agent's plan and its progress, as in the last `plan.updated`."""
    tasks: list[TaskBody]
    """The session's tasks, which its agents share, as in the last `tasks.updated`."""
    todos: list[TodoBody]
    """The agent's own working list, as in the last `todos.updated`."""
    background: list[BackgroundCommandBody]
    """The commands that run in the background of its sandbox; `GET .../background` also has those that ended."""
    resources: list[KeptResourceBody | PortResourceBody]
    """Resources that agent and person keep with the session, then ports of its sandbox that are open to the person's
    browser, the latest last; `resources.updated` reports each change."""
    queue: QueueBody
    """The messages that wait for the end of the active run; `queue.updated` reports changes."""
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
            resources=[
                *(KeptResourceBody.of(one) for one in state.resources),
                *(PortResourceBody.model_validate(port) for port in state.ports),
            ],
            queue=QueueBody.of(state.queue),
            usage=UsageBody.model_validate(state.usage),
            sandbox=SandboxBody.of(state.sandbox, seq=state.session.last_seq),
            last_seq=state.session.last_seq,
        )
