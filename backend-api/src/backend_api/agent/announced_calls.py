"""Calls of an answer as they are recorded before any of them starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.agent.approvals import Approval
from backend_api.agent.capability import Ask
from backend_api.agent.events import (
    MAX_PREVIEW_CHARACTERS,
    ApprovalCall,
    StoredPayload,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.shortening import shorten
from backend_api.agent.tool import Tool
from backend_api.agent.waits import Wait


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call as recorded. `tool` is None if no tool has that name, `broken` is the reason why it can't run, and `asks`
    means that it needs an approval before it starts."""

    called: ToolCalled
    tool: Tool | None
    broken: str | None = None
    asks: Ask | None = None
    needs_approval: bool = False
    """Whether the call was recorded as needing an approval: then its start is recorded once it may start."""
    is_approved: bool = False

    @property
    def may_run_beside(self) -> bool:
        """Whether it may run at the same time as others: a chained call has to wait for the result of the one before
        it."""
        return self.tool is not None and self.tool.spec.effect == "reads" and self.called.after is None


def recorded_of(announced: Sequence[PendingCall]) -> list[StoredPayload]:
    """The events to record before any of these calls starts. The results of calls that can't run are stored in the same
    step, so that they are not taken for calls that were cut."""
    results = [
        ToolFinished(call_id=one.called.call_id, success=False, preview=shorten(one.broken, MAX_PREVIEW_CHARACTERS))
        for one in announced
        if one.broken is not None
    ]
    return [*(one.called for one in announced), *results]


def approval_of(asking: Sequence[PendingCall]) -> Wait:
    """The one approval for all calls of a turn that need one."""
    calls = [
        ApprovalCall(
            call_id=call.called.call_id,
            name=call.called.name,
            arguments=call.called.arguments,
            safety_checks=call.called.safety_checks,
        )
        for call in asking
    ]
    expires_s = min(call.asks.expires_s for call in asking if call.asks is not None)
    is_held_back = any(call.safety_checks for call in calls)
    subject = Approval(calls=calls, is_held_back=is_held_back)
    return Wait(id=f"approval_{calls[0].call_id}", subject=subject, expires_s=expires_s)
