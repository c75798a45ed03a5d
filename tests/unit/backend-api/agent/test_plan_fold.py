"""Which plan an agent is at work on, by the log."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend_api.agent.capabilities.plan_steps import PLAN_STEPS
from backend_api.agent.capability import Capabilities, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import (
    Payload,
    PlanDecided,
    PlanEntered,
    PlanProposed,
    PlanStep,
    PlanUpdated,
    RunFinished,
)
from backend_api.agent.plan_fold import NO_PLAN, ActivePlan, PlanFold

PROPOSED = PlanProposed(plan_id="p", call_id="c", plan="Dig, then plant.")
APPROVED = PlanDecided(plan_id="p", decision="approve", by="user")
OPEN = PlanStep(title="Plant", status="pending")
DUG = PlanStep(title="Dig", status="done")
COMPLETED, STOPPED = RunFinished(run_id="r", status="completed"), RunFinished(run_id="r", status="stopped")


@pytest.mark.parametrize(
    ("events", "known"),
    [
        ([], NO_PLAN),
        ([PROPOSED], NO_PLAN),
        ([PROPOSED, PlanDecided(plan_id="p", decision="reject", by="user")], NO_PLAN),
        ([PROPOSED, PlanDecided(plan_id="other", decision="approve", by="user")], NO_PLAN),
        ([PROPOSED, APPROVED], ActivePlan(approved="Dig, then plant.")),
        ([PROPOSED, APPROVED, STOPPED], ActivePlan(approved="Dig, then plant.")),
        ([PROPOSED, APPROVED, COMPLETED], NO_PLAN),
        ([PROPOSED, APPROVED, PlanEntered()], NO_PLAN),
        ([PlanUpdated(steps=[DUG, OPEN]), COMPLETED], ActivePlan(steps=[DUG, OPEN])),
        ([PlanUpdated(steps=[DUG, OPEN]), PlanUpdated(steps=[DUG])], NO_PLAN),
        ([PlanUpdated(steps=[OPEN]), PlanUpdated(steps=[])], NO_PLAN),
    ],
)
def test_it_is_the_one_that_was_approved_and_the_steps_that_are_left(events: list[Payload], known: ActivePlan) -> None:
    fold = PlanFold()
    for event in events:
        fold.apply(event)
    assert fold.known() == known


def test_it_is_kept_with_a_summary_word_for_word() -> None:
    setup = Setup(now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    conversation = Conversation(turns=[], seen_seq=1, next_turn=1, is_answered=False)
    known = ActivePlan(approved="Dig, then plant.", steps=[DUG, OPEN])
    kept = Capabilities([PLAN_STEPS], setup).notes_after_compaction(replace(conversation, plan=known))
    assert kept == [
        "The plan that the person approved, as it was recorded:\n\nDig, then plant.",
        "The steps as they were told last:\n- [done] Dig\n- [pending] Plant",
    ]
    assert Capabilities([PLAN_STEPS], setup).notes_after_compaction(conversation) == []
