"""`plan_update`: the steps of the agent's work and how far they are, for the person to see."""

from __future__ import annotations

from pydantic import Field

from backend_api.agent.events import PlanStep, PlanUpdated, StepStatus
from backend_api.agent.tool import Done, ToolCall
from backend_api.agent.tools.local import Arguments, Line, local_tool

MAX_STEPS = 30


class StepArguments(Arguments):
    title: Line = Field(min_length=1, max_length=200, description="What is done, in one line.")
    status: StepStatus = Field(default="pending", description="How far it is.")
    result: Line = Field(default="", max_length=300, description="What came of it, in one line.")


class PlanUpdateArguments(Arguments):
    steps: list[StepArguments] = Field(
        max_length=MAX_STEPS, description="All steps, in their order; they replace what was there."
    )


async def _run(call: ToolCall, arguments: PlanUpdateArguments) -> Done:
    steps = [PlanStep(title=step.title, status=step.status, result=step.result) for step in arguments.steps]
    counts = ", ".join(
        f"{sum(step.status == name for step in steps)} {name}" for name in ("done", "in_progress", "pending")
    )
    return Done(success=True, output=f"{len(steps)} steps: {counts}.", events=[PlanUpdated(steps=steps)])


PLAN_UPDATE = local_tool(
    name="plan_update",
    description=(
        "Show the person the steps of your work and how far they are. Call it before work of three steps or more, and "
        "whenever a step begins or ends."
    ),
    arguments=PlanUpdateArguments,
    phrase="Updating the plan",
    run_call=_run,
    effect="notes",
    deadline_ms=5_000,
)
