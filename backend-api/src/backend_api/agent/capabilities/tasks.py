"""Where its conversation goes on from a summary, the session's tasks stand in that as they were recorded."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capability import Capability, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.tasks import are_open, listed


def _notes_after_compaction(setup: Setup, conversation: Conversation) -> Sequence[str]:
    del setup
    return [listed(conversation.tasks)] if are_open(conversation.tasks) else []


TASKS = Capability(name="tasks", kept=_notes_after_compaction)
