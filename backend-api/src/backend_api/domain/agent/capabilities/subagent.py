"""Who a sub-agent works for, and who reads what it says."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.domain.agent.capability import Capability, Setup

_TEXT = """\
Your part
- You work on one task for another agent that shares your computer. It reads only your last answer, and the person \
reads neither you nor your files unless it says so: put into that answer all that was asked for, and nothing else.
- You know nothing of the conversation but the task. You can ask nobody: decide what is open, and say how."""
_EXPLORE = "- You look and report; you have no tool that changes anything."


def _sections(setup: Setup) -> Sequence[str]:
    match setup.kind:
        case "main":
            return []
        case "general":
            return [_TEXT]
        case "explore":
            return [f"{_TEXT}\n{_EXPLORE}"]


SUBAGENT = Capability(name="subagent", sections=_sections)
