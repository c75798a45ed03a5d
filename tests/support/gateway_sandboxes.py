"""A computer as the gateway knows it, for tests of what speaks to one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from backend_api.agent.tool import ToolCall
from backend_api.sandboxes.domain.entity import Sandbox


def a_sandbox(sandbox_id: str = "sandbox-1", session_id: str = "session-1", *, has_desktop: bool = False) -> Sandbox:
    """Ready, with network, for an hour."""
    return Sandbox(
        id=sandbox_id,
        session_id=session_id,
        generation=1,
        has_desktop=has_desktop,
        has_network=True,
        expires_at=datetime.now(UTC) + timedelta(hours=1),
    )


def shell_call(on_output: Callable[[str], Awaitable[None]]) -> ToolCall:
    """A call of a shell command, whose output is shown as it comes."""
    return ToolCall(
        session_id="s",
        user_id="u",
        run_id="r",
        call_id="call-1",
        name="shell_exec",
        arguments={"command": "x"},
        on_output=on_output,
    )
