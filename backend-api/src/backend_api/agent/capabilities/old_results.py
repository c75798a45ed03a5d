"""Old tool results are sent to the model as one line each; the log keeps them whole.

The prompt only grows between two openings, as providers cache by prefix. So results are replaced in steps, once that
frees enough tokens to be worth the rest being read anew.
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
"""The number of last results that are always kept."""


def old_results(*, min_tokens: int) -> Capability:
    """Replace results once that frees `min_tokens`, or whenever the context is opened anew for another reason."""

    def is_due(conversation: Conversation) -> bool:
        freed = _tokens_freed(conversation, _replaceable(conversation))
        return conversation.opened is not None and freed >= min_tokens

    projection = Projection(apply=_apply, is_due=is_due, limit=_limit, tell=_clearing_event)
    return Capability(name="old results", projections=[projection])


def _apply(conversation: Conversation) -> Conversation:
    """Mark the turns before the first long result as lasting. The replaced results are cut already
    (`left_at_opening`)."""
    count, results = _replaced(conversation), conversation.results
    if count >= len(results):
        return conversation
    return replace(conversation, lasting=results[count].turn)


def _limit(conversation: Conversation, opened: ContextOpened) -> ContextOpened:
    """Never replace fewer results than the last opening did."""
    if conversation.opened is None:
        return opened
    return replace(opened, replaced=max(_replaced(conversation), _replaceable(conversation)))


def _replaced(conversation: Conversation) -> int:
    return conversation.opened.replaced if conversation.opened is not None else 0


def _replaceable(conversation: Conversation) -> int:
    """The number of first results that may be replaced: all but the last ones, and those that the model has not read
    yet."""
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
    """An estimate of the tokens freed by replacing the results before number `end` that are not replaced yet."""
    begin, results = _replaced(conversation), conversation.results
    if end <= begin:
        return 0
    return results[end - 1].long_tokens - (results[begin - 1].long_tokens if begin else 0)
