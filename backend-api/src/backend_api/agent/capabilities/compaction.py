"""A conversation that fills most of its model's window goes on from a summary of itself."""

from __future__ import annotations

from backend_api.agent.capability import Capability, Compact, Projection, Setup
from backend_api.agent.context_size import most_uncounted_tokens, uncounted_tokens
from backend_api.agent.conversation import Conversation


def compaction(*, threshold: float) -> Capability:
    """`threshold` is a share of the model's window. What the provider counted last is believed, and what came since is
    counted as its model does. One that failed is not tried again in the same run, and one that was just made is not
    made again before there was an answer."""

    async def brake(setup: Setup, conversation: Conversation) -> Compact | None:
        if conversation.has_compaction_failed:
            return None
        if (wanted := conversation.compaction_wanted) is not None:
            return Compact(kind="manual", size=await size_of(setup, conversation), focus=wanted.focus)
        limit = threshold * setup.context_window
        # Mostly it is far from it, and not worth being counted exactly.
        most = conversation.context_tokens + most_uncounted_tokens(setup, conversation)
        if conversation.is_just_compacted or most < limit:
            return None
        size = await size_of(setup, conversation)
        return Compact(kind="auto", size=size) if size >= limit else None

    opened_anew = Projection(apply=lambda conversation: conversation, is_due=lambda known: known.is_compacted)
    return Capability(name="compaction", brake=brake, projections=[opened_anew])


async def size_of(setup: Setup, conversation: Conversation) -> int:
    """About as many tokens as the next call reads: what the last one read and wrote, and what came since."""
    return conversation.context_tokens + await uncounted_tokens(setup, conversation)
