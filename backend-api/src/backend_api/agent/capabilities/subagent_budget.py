"""A sub-agent has what its kind may use for itself: it is told near the end of it to write down what it found, and at
the end answers with what it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.agent.capability import Capability, FinalTurn, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.ending import Ending
from backend_api.agent.events import ContextNote, Notice
from service_kit.amounts import duration_text

TOLD_FROM = 0.8
"""Of what it may use: what is left is enough to hand in what was found."""


@dataclass(frozen=True, slots=True)
class _Budget:
    name: str
    limit: float
    used: float

    def __str__(self) -> str:
        if self.name == "minutes":
            return duration_text(self.limit * 60)
        if self.name == "tokens":
            return f"{self.limit:,.0f} tokens"
        return f"{self.limit:.0f} {'call' if self.limit == 1 else 'calls'} of tools"


def _budgets(setup: Setup, conversation: Conversation | None = None) -> list[_Budget]:
    """Those that its kind has, in the order in which they are told."""
    kind = setup.subagent
    if kind is None:
        return []
    calls = tokens = minutes = 0.0
    if conversation is not None:
        calls, tokens = conversation.own.calls, conversation.own.tokens
        if kind.max_minutes is not None:
            minutes = conversation.agent_work_until(setup.now()).total_seconds() / 60
    bounds = (("calls", kind.max_calls, calls), ("tokens", kind.max_tokens, tokens))
    bounds = (*bounds, ("minutes", kind.max_minutes, minutes))
    return [_Budget(name, limit, used) for name, limit, used in bounds if limit is not None]


def _sections(setup: Setup) -> Sequence[str]:
    if not (budgets := _budgets(setup)):
        return []
    all_of_it = ", ".join(map(str, budgets))
    return [
        f"Your budget\n- You have {all_of_it}. It is yours alone; once one is used up you answer with what you have."
    ]


def _notes(setup: Setup, conversation: Conversation) -> Sequence[ContextNote]:
    near = [one for one in _budgets(setup, conversation) if TOLD_FROM * one.limit <= one.used < one.limit]
    if not near:
        return ()
    hand_in = " and hand it in by findings_submit" if setup.has_tool("findings_submit") else ""
    text = (
        f"Most of your budget is used up ({', '.join(map(str, near))}). Look for nothing more: write down now what "
        f"you found{hand_in}, and then your answer, with what you could not find."
    )
    return [ContextNote(kind="budget", text=text)]


async def _brake(setup: Setup, conversation: Conversation) -> FinalTurn | None:
    ended = next((one for one in _budgets(setup, conversation) if one.used >= one.limit), None)
    if ended is None:
        return None
    reason = f"The agent was ended by its budget of {ended}. What it says is what it had by then."
    text = (
        f"Your budget of {ended} is used up, and you can use no tool any more. Answer now from what you have: what "
        "you found, with its sources, and what is still open."
    )
    notice = Notice(text=reason, code=f"agent_budget_{ended.name}", params={"limit": int(ended.limit)})
    ending = Ending(status="completed", reason=reason, said=(notice,))
    return FinalTurn(note=ContextNote(kind="budget", text=text), ending=ending)


SUBAGENT_BUDGET = Capability(name="subagent budget", sections=_sections, notes=_notes, brake=_brake, for_subagents=True)
"""It is looked at before each turn, and what calls are left before each call of an answer (`tool_runner.py`); the last
ones may take longer."""
