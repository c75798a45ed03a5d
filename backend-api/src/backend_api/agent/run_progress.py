"""An agent's progress in a run: a fold of its events."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from backend_api.agent.changed_files import add_changed
from backend_api.agent.events import (
    NO_USAGE,
    ApprovalRequested,
    ApprovalResolved,
    Event,
    FilesChanged,
    MessageCompleted,
    PlanProposed,
    QuestionAsked,
    RunStarted,
    SubagentStarted,
    ToolCalled,
    ToolFinished,
    ToolStarted,
    Usage,
    UsageUpdated,
    agent_of,
)
from backend_api.agent.step import NO_RESULT

ASKED = (ApprovalRequested, QuestionAsked, PlanProposed)
"""The events with which a run begins to wait."""


@dataclass(slots=True)
class RunProgress:
    """An agent's progress in a run, by the log. `open_calls` have a recorded start and no end; those of them
    `needing_approval` never started, and may once they are `approved`. `attempts_without_progress` counts the run's
    starts since a tool last returned a result. `usage` of the main agent is the whole run's, and `last_turns` are the
    numbers of the last answers of its sub-agents, also of finished ones. `worked_before` is the time that workers
    had held the run when each of them began."""

    run_id: str
    last_turn: int = 0
    usage: Usage = NO_USAGE
    files: list[str] = field(default_factory=list[str])
    open_calls: dict[str, ToolCalled] = field(default_factory=dict[str, ToolCalled])
    needing_approval: set[str] = field(default_factory=set[str])
    approved: set[str] = field(default_factory=set[str])
    attempts_without_progress: int = 0
    continuations: int = 0
    calls: int = 0
    needs_sandbox: bool = False
    last_turns: dict[str, int] = field(default_factory=dict[str, int])
    worked_before: dict[str, timedelta] = field(default_factory=dict[str, timedelta])
    since: datetime | None = None
    worked: timedelta = timedelta()
    last_at: datetime | None = None
    is_waiting: bool = False

    @property
    def turns_below(self) -> int:
        """The number of answers of its sub-agents."""
        return sum(self.last_turns.values())

    def apply(self, event: Event) -> None:
        """Add the next event of this agent in this run."""
        payload = event.payload
        self._count_time(event)
        self.since = self.since or event.at
        self.last_turn = max(self.last_turn, getattr(payload, "turn", 0))
        match payload:
            case RunStarted():
                self.attempts_without_progress += 1
            case MessageCompleted():
                self.continuations += len(payload.continuations)
            case ToolCalled():
                self.open_calls[payload.call_id] = payload
                self.calls += 1
                self.needs_sandbox = self.needs_sandbox or payload.needs_computer
                if payload.asks:
                    self.needing_approval.add(payload.call_id)
            case ApprovalRequested():
                self.needing_approval.update(call.call_id for call in payload.calls)
            case ApprovalResolved():
                if payload.decision != "deny":
                    self.approved.update(payload.call_ids)
            case ToolStarted():
                self.needing_approval.discard(payload.call_id)
            case ToolFinished():
                self.open_calls.pop(payload.call_id, None)
                self.needing_approval.discard(payload.call_id)
                if payload.preview != NO_RESULT:
                    self.attempts_without_progress = 0
            case UsageUpdated():
                self.usage = payload.agent_usage or payload.usage
            case FilesChanged():
                add_changed(self.files, payload)
            case _:
                pass

    def apply_of_another(self, event: Event) -> None:
        """Count an event of a sub-agent as the run's."""
        self._count_time(event)
        agent_id, turn = agent_of(event.payload), getattr(event.payload, "turn", 0)
        if agent_id is not None and turn:
            self.last_turns[agent_id] = max(self.last_turns.get(agent_id, 0), turn)
        match event.payload:
            case SubagentStarted(subagent_id=begun):
                self.worked_before.setdefault(begun, self.worked)
            case ToolFinished() as finished if finished.preview != NO_RESULT:
                self.attempts_without_progress = 0
            case UsageUpdated():
                self.usage = event.payload.usage
            case _:
                pass

    def _count_time(self, event: Event) -> None:
        """Count the time that workers have the run: from a start until it waits, or is left to another worker."""
        match event.payload:
            case RunStarted():
                self.is_waiting = False
            case _ if self.last_at is not None and not self.is_waiting and event.at > self.last_at:
                self.worked += event.at - self.last_at
            case _:
                pass
        self.last_at = event.at
        if isinstance(event.payload, ASKED):
            self.is_waiting = True
