"""Waits of a run without a process, and the results of their ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from backend_api.agent.approvals import Approval, Decision, PastDecision
from backend_api.agent.events import ResolvedBy
from backend_api.agent.new_events import NewEvent
from backend_api.agent.plans import Plan, PlanDecision
from backend_api.agent.questions import Answers, Questions

Subject = Questions | Approval | Plan
RefusedBy = Literal["message", "stop"]
Answer = Answers | Decision | PlanDecision
ASKS_NO_MORE: Mapping[str, Any] = {"enable_approval": False, "asked_tools": []}
PLANS_NO_MORE: Mapping[str, Any] = {"enable_plan_mode": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A wait, with its deadline `expires_s` after it was stored, by the store's clock."""

    id: str
    subject: Subject
    expires_s: float

    @property
    def agent_id(self) -> str | None:
        """The agent that waits; None for the main agent, which alone asks questions."""
        return self.subject.agent_id if isinstance(self.subject, Approval) else None

    def opened(self, at: datetime) -> OpenWait:
        """The stored form of the wait."""
        return OpenWait(id=self.id, subject=self.subject, deadline=at + timedelta(seconds=self.expires_s))


class WaitRefusedError(Exception):
    """The run does not wait, as a stop or an interrupting message came before; nothing was written."""

    def __init__(self, by: RefusedBy) -> None:
        super().__init__(f"A {by} came before the wait.")
        self.by: RefusedBy = by


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWait:
    """A stored wait. Its subject is decided exactly once: by an answer, the deadline, an interrupting message or a
    stop."""

    id: str
    subject: Subject
    deadline: datetime

    @property
    def past(self) -> Sequence[PastDecision]:
        """The past decisions of an approval."""
        return self.subject.decided if isinstance(self.subject, Approval) else ()

    @property
    def lapsed(self) -> Sequence[PastDecision]:
        """The decisions of an approval whose deadline has passed, though nobody recorded it yet."""
        if not isinstance(self.subject, Approval):
            return ()
        return self.subject.resolved(self.id, "timeout", None).rest.decided

    def request_event(self) -> NewEvent:
        """The event that begins the wait."""
        return NewEvent(payload=self.subject.request_event(self.id, self.deadline))

    def without_content(self) -> OpenWait:
        """The part that is needed to end it. The calls' arguments (of any size and with any keys), their safety checks,
        and a plan's text stand in the log alone."""
        if isinstance(self.subject, Plan):
            return replace(self, subject=replace(self.subject, plan=""))
        if not isinstance(self.subject, Approval):
            return self
        calls = [replace(call, arguments={}, safety_checks=[]) for call in self.subject.calls]
        return replace(self, subject=replace(self.subject, calls=calls))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The result of ending some waits of a run: `left` are still open, `over` are not, and `recorded` are the events.
    `options` are the session's options that change with it."""

    left: Sequence[OpenWait]
    over: Sequence[OpenWait]
    recorded: Sequence[NewEvent]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


def answered(wait: OpenWait, waits: Sequence[OpenWait], answer: Answer, at: datetime) -> list[OpenWait]:
    """The waits of a run that an answer to one of them ends. `approve_all` without call ids also approves the calls of
    its other agents, but for those past their deadline, and those that a provider holds back."""
    if not isinstance(answer, Decision) or answer.decision != "approve_all" or answer.call_ids is not None:
        return [wait]
    others = [one for one in waits if one.id != wait.id and one.deadline >= at and _is_approved_unseen(one.subject)]
    return [wait, *others]


def _is_approved_unseen(subject: Subject) -> bool:
    return isinstance(subject, Approval) and not subject.is_held_back


def end(waits: Sequence[OpenWait], ending: Sequence[OpenWait], by: ResolvedBy, answer: Answer | None = None) -> Ended:
    """End some of a run's waits, each with the answer, if there is one. Raises `InvalidError` or `ConflictError` for an
    answer it does not allow."""
    left = [wait for wait in waits if wait not in ending]
    over: list[OpenWait] = []
    recorded: list[NewEvent] = []
    for wait in ending:
        match wait.subject:
            case Questions() as questions:
                recorded += questions.resolved(wait.id, by, answer if isinstance(answer, Answers) else None)
                over.append(wait)
            case Plan() as plan:
                recorded += plan.resolved(wait.id, by, answer if isinstance(answer, PlanDecision) else None)
                over.append(wait)
            case Approval() as approval:
                decision = answer if isinstance(answer, Decision) else None
                rest, said = approval.resolved(wait.id, by, decision)
                recorded += said
                (left if rest.calls else over).append(replace(wait, subject=rest))
    return Ended(left=left, over=over, recorded=recorded, options=_options_after(answer))


def _options_after(answer: Answer | None) -> Mapping[str, Any]:
    match answer:
        case Decision(decision="approve_all"):
            return ASKS_NO_MORE
        case PlanDecision(decision="approve"):
            return PLANS_NO_MORE
        case _:
            return {}
