"""Sub-agents, which work on one call of the main agent: what they are given, and which tools they have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from backend_api.domain.agent.events import SubagentKind
from backend_api.domain.agent.tools import Done, ToolCall, ToolSpec, Waits

AgentKind = Literal["main"] | SubagentKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Work for another agent, which it may take `within_s` seconds for."""

    kind: SubagentKind
    task: str
    within_s: float


Delegate = Callable[[ToolCall, Assignment], Awaitable[Done | Waits]]
"""Gives an assignment to an agent of its own; what that says last is the call's result. Called again for a call that
was cut, or that waited, it goes on where that agent was."""


READS_ONLY: frozenset[AgentKind] = frozenset({"explore", "plan"})
TOOLS_OF: Mapping[AgentKind, tuple[str, ...]] = {
    "research": ("web_*", "browser_*", "file_*", "think", "utc_now", "todo_*", "task_*", "*_skill", "*_skills"),
}
"""Names and globs for kinds that have not all tools."""


def may_have(kind: AgentKind, tool: ToolSpec) -> bool:
    """Whether an agent of this kind is given a tool."""
    if tool.asks_person:
        return kind == "main"
    if kind in READS_ONLY and not tool.read_only:
        return False
    globs = TOOLS_OF.get(kind)
    return globs is None or any(fnmatchcase(tool.name, glob) for glob in globs)
