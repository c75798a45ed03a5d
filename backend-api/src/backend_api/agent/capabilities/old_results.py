"""It reads what its tools gave long ago as one line each; the log keeps all of it.

What a model was sent is only added to between two openings, as providers cache by prefix: results are replaced in
steps, once that frees enough tokens to be worth the rest being read anew.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from backend_api.agent.capability import Capability, Projection
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import ContextCompacted, ContextOpened
from backend_api.agent.model import ToolTurn
from backend_api.agent.sizes import estimated_tokens, tokens_of

KEPT = 3
"""Results, the last ones."""


def old_results(*, min_tokens: int) -> Capability:
    """Replaces results once that frees `min_tokens`, or where the context is opened anew for another reason."""

    def is_due(conversation: Conversation) -> bool:
        freed = _tokens_freed(conversation, _replaceable(conversation))
        return conversation.opened is not None and freed >= min_tokens

    projection = Projection(apply=_apply, is_due=is_due, limit=_limit, tell=_clearing_event)
    return Capability(name="old results", projections=[projection])


def _apply(conversation: Conversation) -> Conversation:
    """What an opening replaced is left out of the conversation already (`left_at_opening`)."""
    count, results = _replaced(conversation), conversation.results
    if count >= len(results):
        return conversation
    return replace(conversation, lasting=results[count].turn)


def _limit(conversation: Conversation, opened: ContextOpened) -> ContextOpened:
    """What was replaced stays so."""
    if conversation.opened is None:
        return opened
    return replace(opened, replaced=max(_replaced(conversation), _replaceable(conversation)))


def _replaced(conversation: Conversation) -> int:
    return conversation.opened.replaced if conversation.opened is not None else 0


def _replaceable(conversation: Conversation) -> int:
    """How many of the first results may be replaced: not the last ones, nor any that the model has not seen yet."""
    read = bisect_left(conversation.results, (conversation.unread_from, 0))
    return max(min(read, len(conversation.results) - KEPT), 0)


def _clearing_event(conversation: Conversation, opened: ContextOpened) -> ContextCompacted | None:
    freed = _tokens_freed(conversation, opened.replaced)
    if not freed:
        return None
    last = conversation.turns[conversation.results[opened.replaced - 1].turn]
    uncounted = tokens_of(conversation.turns[conversation.uncounted_from :], estimated_tokens)
    before = conversation.context_tokens + uncounted
    return ContextCompacted(
        kind="micro",
        before=before,
        after=max(before - freed, 0),
        through_seq=last.seq if isinstance(last, ToolTurn) else 0,
        summary="",
    )


def _tokens_freed(conversation: Conversation, end: int) -> int:
    """About as many tokens as it takes away to replace the results before the one of number `end`, those that are not
    yet."""
    begin, results = _replaced(conversation), conversation.results
    if end <= begin:
        return 0
    return results[end - 1].long_tokens - (results[begin - 1].long_tokens if begin else 0)
