"""The plan that an agent follows: a fold of the session's log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.agent.events import (
    Payload,
    PlanDecided,
    PlanEntered,
    PlanProposed,
    PlanStep,
    PlanUpdated,
    RunFinished,
)

_OVER = ("done", "skipped")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivePlan:
    """The plan that a person `approved`, as long as the agent works on it, and its latest steps, unless all are
    over."""

    approved: str | None = None
    steps: Sequence[PlanStep] = ()


NO_PLAN = ActivePlan()


class PlanFold:
    """Folds events into the plan; adding one costs the same however many came before."""

    def __init__(self) -> None:
        self._proposed: PlanProposed | None = None
        self._approved: str | None = None
        self._steps: Sequence[PlanStep] = ()

    def apply(self, payload: Payload) -> None:
        """Add the next event of the session."""
        match payload:
            case PlanEntered():
                self._approved = None
            case PlanProposed():
                self._proposed = payload
            case PlanDecided(decision="approve", plan_id=plan_id):
                if self._proposed is not None and self._proposed.plan_id == plan_id:
                    self._approved = self._proposed.plan
            case PlanUpdated(steps=steps):
                self._steps = () if all(step.status in _OVER for step in steps) else steps
            case RunFinished() as finished if finished.is_by_itself:
                self._approved = None
            case _:
                pass

    def known(self) -> ActivePlan:
        """The current plan."""
        return ActivePlan(approved=self._approved, steps=self._steps)
