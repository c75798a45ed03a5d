"""A summary of the conversation is followed by the agent's to-do list, as it was recorded."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capability import Capability, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.todos import is_open, numbered


def _notes_after_compaction(setup: Setup, conversation: Conversation) -> Sequence[str]:
    del setup
    return [numbered(conversation.todos)] if is_open(conversation.todos) else []


TODOS = Capability(name="todos", notes_after_compaction=_notes_after_compaction)
