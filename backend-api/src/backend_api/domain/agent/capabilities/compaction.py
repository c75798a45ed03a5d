"""A conversation that fills most of its model's window goes on from a summary of itself."""

from __future__ import annotations

from backend_api.domain.agent.capability import Capability, Compact, Projection, Setup
from backend_api.domain.agent.model import AssistantTurn
from backend_api.domain.agent.sizes import CHARACTERS_A_TOKEN, PICTURE_TOKENS, weight_of_turn
from backend_api.domain.agent.thread import Conversation

THRESHOLD = 0.7
"""Of the model's window."""


def compaction(*, threshold: float = THRESHOLD) -> Capability:
    """What the provider counted last is believed, and what came since is estimated. One that failed is not tried again
    in the same run, and one that was just made is not made again before there was an answer."""

    def brake(setup: Setup, conversation: Conversation) -> Compact | None:
        if conversation.has_compaction_failed:
            return None
        size = size_of(setup, conversation)
        if (wanted := conversation.compaction_wanted) is not None:
            return Compact(kind="manual", size=size, focus=wanted.focus)
        if conversation.is_just_compacted:
            return None
        return Compact(kind="auto", size=size) if size >= threshold * setup.context_window else None

    opened_anew = Projection(apply=lambda conversation: conversation, is_due=lambda known: known.is_compacted)
    return Capability(name="compaction", brake=brake, projections=[opened_anew])


def size_of(setup: Setup, conversation: Conversation) -> int:
    """About as many tokens as the next call reads."""
    turns = conversation.turns
    begin, characters = 0, 0
    if conversation.context_tokens:
        begin = next((at for at in reversed(range(len(turns))) if isinstance(turns[at], AssistantTurn)), -1) + 1
    else:
        characters += conversation.opened.system.size if conversation.opened else 0
        characters += sum(len(tool.offer) for tool in setup.tools)
    characters += sum(weight_of_turn(turn) for turn in turns[begin:])
    shown = sum(index >= begin for index in conversation.pictures)
    return conversation.context_tokens + characters // CHARACTERS_A_TOKEN + shown * PICTURE_TOKENS
