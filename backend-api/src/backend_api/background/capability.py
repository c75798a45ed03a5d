"""A summary of the conversation is followed by the list of running background commands."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.background import listed
from backend_api.agent.capability import Capability, Setup
from backend_api.agent.conversation import Conversation


def _notes_after_compaction(setup: Setup, conversation: Conversation) -> Sequence[str]:
    del setup
    return [listed(conversation.background)] if conversation.background else []


BACKGROUND = Capability(name="background", after="tasks", notes_after_compaction=_notes_after_compaction)
