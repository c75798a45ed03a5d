"""`enter_plan_mode` and `exit_plan_mode`: from thinking ahead to a plan that a person decides about."""

from __future__ import annotations

from pydantic import Field

from backend_api.agent.capabilities.plan_mode import EXIT_TOOL
from backend_api.agent.events import PlanEntered
from backend_api.agent.plans import MAX_PLAN_CHARACTERS, Plan
from backend_api.agent.tool import Done, Tool, ToolCall, Waits
from backend_api.agent.tools.local import Arguments, Words, local_tool
from backend_api.agent.waits import Wait

EXPIRES_S = 7 * 86_400.0


class EnterArguments(Arguments):
    """No arguments."""


class ExitArguments(Arguments):
    plan: Words = Field(
        min_length=1,
        max_length=MAX_PLAN_CHARACTERS,
        pattern=r"\S",
        description="The plan as the person reads it, in Markdown: what you change, in which order, how you check it.",
    )


async def _enter_plan_mode(call: ToolCall, arguments: EnterArguments) -> Done:
    output = f"You are in plan mode. Look and read, then propose the plan with {EXIT_TOOL}."
    return Done(success=True, output=output, events=[PlanEntered()])


def plan_mode_tools(*, expires_s: float = EXPIRES_S) -> list[Tool]:
    """The tools of the main agent. A plan undecided after `expires_s` seconds is rejected."""

    async def propose(call: ToolCall, arguments: ExitArguments) -> Waits:
        plan = Plan(call_id=call.call_id, plan=arguments.plan)
        return Waits([Wait(id=f"plan_{call.call_id}", subject=plan, expires_s=expires_s)])

    enter = local_tool(
        name="enter_plan_mode",
        description=(
            "Enter plan mode: you keep only tools that read, until the person approves a plan of yours. Use it before "
            "work that changes much, or when the person asks for a plan first."
        ),
        arguments=EnterArguments,
        phrase="Planning first",
        effect="reads",
        run_call=_enter_plan_mode,
    )
    leave = local_tool(
        name="exit_plan_mode",
        description="Propose your plan to the person, and wait until they approve it, which ends plan mode.",
        arguments=ExitArguments,
        phrase="Proposing a plan",
        asks_person=True,
        once=True,
        effect="reads",
        run_call=propose,
    )
    return [enter, leave]
