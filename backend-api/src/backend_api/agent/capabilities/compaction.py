"""A conversation that fills most of its model's window is replaced by a summary."""

from __future__ import annotations

from backend_api.agent.capability import Capability, Compact, Projection, Setup
from backend_api.agent.context_size import most_uncounted_tokens, uncounted_tokens
from backend_api.agent.conversation import Conversation


def compaction(*, threshold: float) -> Capability:
    """`threshold` is a share of the model's window. The provider's last count is trusted, and what came since is
    counted as the model does. After a failure there is no further attempt in the same run, and after a summary none
    before the next answer."""

    async def brake(setup: Setup, conversation: Conversation) -> Compact | None:
        if conversation.has_compaction_failed:
            return None
        if (wanted := conversation.compaction_wanted) is not None:
            return Compact(kind="manual", size=await size_of(setup, conversation), focus=wanted.focus)
        limit = threshold * setup.context_window
        # Usually it is far from the threshold, and an exact count is not worth its time.
        most = conversation.context_tokens + most_uncounted_tokens(setup, conversation)
        if conversation.is_just_compacted or most < limit:
            return None
        size = await size_of(setup, conversation)
        return Compact(kind="auto", size=size) if size >= limit else None

    opened_anew = Projection(apply=lambda conversation: conversation, is_due=lambda known: known.is_compacted)
    return Capability(name="compaction", brake=brake, projections=[opened_anew])


async def size_of(setup: Setup, conversation: Conversation) -> int:
    """An estimate of the tokens that the next call reads: those that the last one read and wrote, and what came
    since."""
    return conversation.context_tokens + await uncounted_tokens(setup, conversation)
