"""The prompt's section on checking the work before reporting it done, for agents with the `think` tool."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capability import Capability, Setup

THINK_TOOL = "think"
_TEXT = """\
Before you finish, {how}check your work against what was asked: what was wanted, what you did, \
how you know it works, and what is still open. Then tell the person the result, and what is left, plainly."""


def _sections(setup: Setup) -> Sequence[str]:
    if setup.has_tool(THINK_TOOL):
        is_told = any(tool.name == THINK_TOOL for tool in setup.prompt_tools)
        return [_TEXT.format(how=f"use the `{THINK_TOOL}` tool to " if is_told else "")]
    return []


VERIFICATION = Capability(name="verification", sections=_sections)
