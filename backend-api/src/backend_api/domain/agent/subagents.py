"""Sub-agents, which work on one call of the main agent: what they are given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from backend_api.domain.agent.tools import Done, ToolCall, Waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Work for another agent, of the kind of that name, which it may take `within_s` seconds for."""

    kind: str
    task: str
    within_s: float


Delegate = Callable[[ToolCall, Assignment], Awaitable[Done | Waits]]
"""Gives an assignment to an agent of its own; what that says last is the call's result. Called again for a call that
was cut, or that waited, it goes on where that agent was."""
