"""The agent shows the steps of its work, whole and bounded."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.events import PlanStep, PlanUpdated
from backend_api.agent.tools.local import MainAgentTools
from backend_api.agent.tools.plan_update import MAX_STEPS, PLAN_UPDATE
from support.scripted import call_tool


async def test_each_call_tells_all_steps() -> None:
    steps = [{"title": "Look", "status": "done", "result": "3 files"}, {"title": "Write"}]
    done = await call_tool(MainAgentTools([PLAN_UPDATE]), "plan_update", {"steps": steps})
    assert done.success
    look = PlanStep(title="Look", status="done", result="3 files")
    assert list(done.events) == [PlanUpdated(steps=[look, PlanStep(title="Write", status="pending")])]
    assert "1 done, 0 in_progress, 1 pending" in done.output


def test_of_several_calls_in_one_answer_the_last_one_is_told_last() -> None:
    assert PLAN_UPDATE.spec.effect == "notes"
    assert PLAN_UPDATE.spec.read_only, "so that nobody is asked, and plan mode has it"


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ([{"title": "x"}] * (MAX_STEPS + 1), f"at most {MAX_STEPS}"),
        ([{"title": ""}], "steps.0.title"),
        ([{"title": "a\nb"}], "steps.0.title"),
        ([{"title": "a", "status": "finished"}], "steps.0.status"),
        ([{"title": "a", "result": "x" * 301}], "steps.0.result"),
        ("none", "steps"),
    ],
)
async def test_what_is_no_list_of_steps_is_told_to_the_model(steps: Any, fault: str) -> None:
    done = await call_tool(MainAgentTools([PLAN_UPDATE]), "plan_update", {"steps": steps})
    assert not done.success
    assert not done.events
    assert fault in done.output
