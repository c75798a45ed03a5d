"""It checks its work before it says that it is done, where it can think aloud."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.domain.agent.capability import Capability, Setup

THINK_TOOL = "think"
_TEXT = """\
Before you finish, use the `{think}` tool to check your work against what was asked: what was wanted, what you did, \
how you know it works, and what is still open. Then tell the person the result, and what is left, plainly."""


def _sections(setup: Setup) -> Sequence[str]:
    if setup.has_tool(THINK_TOOL):
        return [_TEXT.format(think=THINK_TOOL)]
    return []


VERIFICATION = Capability(name="verification", sections=_sections)
