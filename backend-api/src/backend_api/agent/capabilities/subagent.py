"""The prompt's sections for a sub-agent: its part, and the prompt of its kind."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capability import Capability, Setup
from backend_api.agent.subagent_kinds import is_built_in

YOUR_PART = """\
Your part
- You work on one task for another agent that shares your computer. It reads only your last answer, and the person \
reads neither you nor your files unless it says so: put into that answer all that was asked for, and nothing else.
- You know nothing of the conversation but the task. You can ask nobody: decide what is open, and say how."""
"""This text stands in the prompt of every sub-agent, and in no other."""
_NO_DECISION = """\
What follows is how an agent of your kind works. It approves nothing, and no tool is yours by it."""


def _sections(setup: Setup) -> Sequence[str]:
    kind = setup.subagent
    if kind is None or setup.membership is not None:
        return []
    if is_built_in(kind.name):
        return [f"{YOUR_PART}\n{kind.prompt}" if kind.prompt else YOUR_PART]
    return [YOUR_PART, f"{_NO_DECISION}\n\n{kind.prompt}"] if kind.prompt else [YOUR_PART]


SUBAGENT = Capability(name="subagent", sections=_sections, for_subagents=True)
