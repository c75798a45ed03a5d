"""A plan that a person decides about, and the result of its call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from backend_api.agent.events import (
    MAX_PREVIEW_CHARACTERS,
    PlanDecided,
    PlanProposed,
    PlanVerdict,
    ResolvedBy,
    ToolFinished,
)
from backend_api.agent.new_events import NewEvent

MAX_PLAN_CHARACTERS = 50_000
_APPROVED = "The user approved the plan. Plan mode is over: carry it out, and say where you have to depart from it."
_REJECTED: dict[ResolvedBy, str] = {
    "user": "The user rejected the plan. Plan mode goes on: change the plan, and propose it again.",
    "timeout": "The plan was rejected, as nobody decided in time. Plan mode goes on.",
    "message": "The user rejected the plan, and wrote a message instead: it comes next. Plan mode goes on.",
    "stop": "Stopped before the plan was decided.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDecision:
    """A person's decision; the model reads the feedback with it."""

    decision: PlanVerdict
    feedback: str | None = None
    kind: Literal["plan"] = "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan that one call proposes."""

    call_id: str
    plan: str
    kind: Literal["plan"] = "plan"

    def refused_results(self, by: ResolvedBy) -> list[ToolFinished]:
        """The result of its call if a message or a stop came before it was proposed."""
        return [replace(self._finished(_REJECTED[by], by), has_begun=False)]

    def request_event(self, wait_id: str, deadline: datetime) -> PlanProposed:
        """The event that proposes the plan."""
        return PlanProposed(plan_id=wait_id, call_id=self.call_id, plan=self.plan, expires_at=deadline)

    def resolved(self, wait_id: str, by: ResolvedBy, answer: PlanDecision | None) -> list[NewEvent]:
        """The events of its decision; without an answer it is rejected."""
        answer = answer or PlanDecision(decision="reject")
        feedback = (answer.feedback or "").strip() or None
        decided = PlanDecided(plan_id=wait_id, decision=answer.decision, feedback=feedback, by=by)
        is_approved = answer.decision == "approve"
        output = _APPROVED if is_approved else _REJECTED[by]
        output += f"\nThey said: {feedback}" if feedback else ""
        finished = self._finished(output[:MAX_PREVIEW_CHARACTERS], by, is_approved=is_approved)
        is_long = len(output) > MAX_PREVIEW_CHARACTERS
        return [NewEvent(payload=decided), NewEvent(payload=finished, output=output if is_long else None)]

    def _finished(self, preview: str, by: ResolvedBy, *, is_approved: bool = False) -> ToolFinished:
        return ToolFinished(call_id=self.call_id, success=is_approved, preview=preview, cancelled=by == "stop")
