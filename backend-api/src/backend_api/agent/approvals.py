"""Calls that start only once a person approves them, and what the model reads of those that are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, NamedTuple

from backend_api.agent.events import (
    MAX_PREVIEW_CHARACTERS,
    ApprovalCall,
    ApprovalRequested,
    ApprovalResolved,
    Decided,
    ResolvedBy,
    ToolFinished,
)
from backend_api.agent.new_events import NewEvent
from backend_api.kit.errors import ConflictError, InvalidError

MAX_FEEDBACK_CHARACTERS = 10_000
_DENIED: dict[ResolvedBy, str] = {
    "user": "User denied this tool call. Nothing was run. Don't repeat it unless they ask for it.",
    "timeout": "User denied this tool call: nobody approved it in time. Nothing was run.",
    "message": "User denied this tool call, and wrote a message instead: it comes next. Nothing was run.",
    "stop": "Stopped before it was approved. Nothing was run.",
}
_DENIED_TO_ANOTHER = _DENIED | {
    "message": "User denied this tool call, and wrote a message to the agent you work for instead. Nothing was run.",
}
_DONE = {"approve": "approved", "approve_all": "approved", "deny": "denied"}
_WHO: dict[ResolvedBy, str] = {
    "user": "by the user",
    "timeout": "as nobody decided in time",
    "message": "as the user wrote a message instead",
    "stop": "as the run was stopped",
}


class ApprovalDecidedError(ConflictError):
    """A call of the approval is decided already; nothing changed."""

    code = "approval_decided"

    @classmethod
    def of(cls, past: Sequence[PastDecision]) -> ApprovalDecidedError:
        """The error that lists the past decisions, and who made them."""
        decisions = "; ".join(f"{', '.join(one.call_ids)} {_DONE[one.decision]} {_WHO[one.by]}" for one in past)
        return cls(f"This approval is already decided: {decisions}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A person's decision on these calls; without `call_ids` it is on all undecided ones. `approve_all` also ends
    approvals in the session, and without `call_ids` approves everything else that the run waits for."""

    decision: Decided
    call_ids: Sequence[str] | None = None
    feedback: str | None = None
    kind: Literal["approval"] = "approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastDecision:
    """A decision on some calls of an approval."""

    call_ids: Sequence[str]
    decision: Decided
    by: ResolvedBy


class Outcome(NamedTuple):
    """The calls that a decision leaves undecided, and the events that record it."""

    rest: Approval
    recorded: list[NewEvent]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Calls of one turn that wait for a decision, and the decisions on the turn's other calls. `agent_id` is the agent
    that made them, None for the main agent. `is_held_back`: the provider wants a person to see why and to allow some of
    them, so that a decision on other calls doesn't include these."""

    calls: Sequence[ApprovalCall]
    agent_id: str | None = None
    is_held_back: bool = False
    decided: Sequence[PastDecision] = ()
    kind: Literal["approval"] = "approval"

    def refused_results(self, by: ResolvedBy) -> list[ToolFinished]:
        """The results of its calls if a message or a stop came before the approval was requested."""
        return [self._denied(call.call_id, by) for call in self.calls]

    def request_event(self, wait_id: str, deadline: datetime) -> ApprovalRequested:
        """The event that requests the approval."""
        return ApprovalRequested(
            approval_id=wait_id, calls=list(self.calls), expires_at=deadline, agent_id=self.agent_id
        )

    def resolved(self, wait_id: str, by: ResolvedBy, answer: Decision | None) -> Outcome:
        """Decide calls; without an answer all that are left are denied. Raises `ApprovalDecidedError`,
        `InvalidError`."""
        answer = answer or Decision(decision="deny")
        chosen = self._selected_calls(answer)
        past = PastDecision(call_ids=chosen, decision=answer.decision, by=by)
        feedback = (answer.feedback or "").strip() or None
        resolved = ApprovalResolved(
            approval_id=wait_id,
            call_ids=chosen,
            decision=answer.decision,
            feedback=feedback,
            by=by,
            agent_id=self.agent_id,
        )
        rest = replace(
            self,
            calls=[call for call in self.calls if call.call_id not in chosen],
            decided=[*self.decided, past],
        )
        denied = chosen if answer.decision == "deny" else []
        return Outcome(rest, [NewEvent(payload=resolved), *(self._result(call_id, by, feedback) for call_id in denied)])

    def _selected_calls(self, answer: Decision) -> list[str]:
        undecided = [call.call_id for call in self.calls]
        if answer.call_ids is None:
            return undecided
        wanted = list(dict.fromkeys(answer.call_ids))
        if past := [one for one in self.decided if set(one.call_ids) & set(wanted)]:
            raise ApprovalDecidedError.of(past)
        if not wanted or set(wanted) - set(undecided):
            detail = f"call_ids must be among {', '.join(undecided)}. Leave it out to decide them all."
            raise InvalidError(detail, field="body.call_ids")
        return wanted

    def _result(self, call_id: str, by: ResolvedBy, feedback: str | None) -> NewEvent:
        denied = self._denied(call_id, by)
        output = denied.preview + (f"\nThey said: {feedback[:MAX_FEEDBACK_CHARACTERS]}" if feedback else "")
        finished = replace(denied, preview=output[:MAX_PREVIEW_CHARACTERS])
        return NewEvent(payload=finished, output=output if len(output) > MAX_PREVIEW_CHARACTERS else None)

    def _denied(self, call_id: str, by: ResolvedBy) -> ToolFinished:
        why = (_DENIED if self.agent_id is None else _DENIED_TO_ANOTHER)[by]
        return ToolFinished(
            call_id=call_id,
            success=False,
            preview=why,
            cancelled=by == "stop",
            has_begun=False,
            agent_id=self.agent_id,
        )
