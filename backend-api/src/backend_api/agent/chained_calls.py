"""Calls that are steps of one action: each only starts once the one before it succeeded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend_api.agent.announced_calls import PendingCall
from backend_api.agent.conversation import Conversation
from backend_api.agent.model import ToolTurn

NOT_REACHED = "Nothing was run: what was to be done before it was not done."


@dataclass(frozen=True, slots=True)
class ChainedCalls:
    """The ids of calls that `failed`, while the calls of a turn run."""

    failed: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, calls: Sequence[PendingCall], conversation: Conversation) -> ChainedCalls:
        """The state as these calls begin: calls that ended earlier are found in the conversation."""
        if not any([call.called.after for call in calls]):  # noqa: C419 -- one call, where a generator is one for each
            return cls()
        is_open = {call.called.call_id for call in calls}
        ended = {turn.call_id for turn in conversation.turns if isinstance(turn, ToolTurn) and not turn.success}
        return cls({*(ended - is_open), *(call.called.call_id for call in calls if call.broken is not None)})
