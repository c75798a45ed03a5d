"""It reads what its tools gave long ago as one line each; the log keeps all of it.

What a model was sent is only added to between two openings, as providers cache by prefix: results are replaced in
steps, once that frees enough tokens to be worth the rest being read anew.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from backend_api.domain.agent.capability import Capability, Projection
from backend_api.domain.agent.events import ContextOpened
from backend_api.domain.agent.model import AssistantTurn, ToolTurn
from backend_api.domain.agent.sizes import CHARACTERS_A_TOKEN, weight
from backend_api.domain.agent.thread import Conversation

KEPT = 3
"""Results, the last ones."""
LONGER_THAN = 100
"""Characters. Shorter ones are left as they are."""
MARKER = "[Previous: used {tool}]"
MIN_TOKENS = 20_000
"""A tenth of the usual window. To read the rest anew costs some ten times what one turn costs that finds it cached, so
that a smaller step is paid for by a few turns only."""


def old_results(*, min_tokens: int = MIN_TOKENS) -> Capability:
    """Replaces results once that frees `min_tokens`, or where the context is opened anew for another reason."""

    def is_due(conversation: Conversation) -> bool:
        begin, end = _replaced(conversation), _replaceable(conversation)
        freed = sum(_freed(conversation, index) for index in conversation.results[begin:end])
        return conversation.opened is not None and freed // CHARACTERS_A_TOKEN >= min_tokens

    return Capability(name="old results", projections=[Projection(apply=_apply, is_due=is_due, limit=_limit)])


def _apply(conversation: Conversation) -> Conversation:
    count, results = _replaced(conversation), conversation.results
    lasting = results[count] if count < len(results) else 0
    if not count:
        return replace(conversation, lasting=lasting)
    turns = [*conversation.turns]
    for index in results[:count]:
        turn = turns[index]
        if isinstance(turn, ToolTurn) and _is_long(turn):
            turns[index] = ToolTurn(
                call_id=turn.call_id,
                name=turn.name,
                output=MARKER.format(tool=turn.name),
                success=turn.success,
                pictures=turn.pictures,
                note=turn.note,
            )
    return replace(conversation, turns=turns, lasting=lasting)


def _limit(conversation: Conversation, opened: ContextOpened) -> ContextOpened:
    """What was replaced stays so."""
    if conversation.opened is None:
        return opened
    return replace(opened, replaced=max(_replaced(conversation), _replaceable(conversation)))


def _replaced(conversation: Conversation) -> int:
    return conversation.opened.replaced if conversation.opened is not None else 0


def _replaceable(conversation: Conversation) -> int:
    """How many of the first results may be replaced: not the last ones, nor any that the model has not seen yet."""
    turns = conversation.turns
    answered = next((at for at in reversed(range(len(turns))) if isinstance(turns[at], AssistantTurn)), 0)
    return max(min(bisect_left(conversation.results, answered), len(conversation.results) - KEPT), 0)


def _freed(conversation: Conversation, index: int) -> int:
    turn = conversation.turns[index]
    return weight(turn.output) if isinstance(turn, ToolTurn) and _is_long(turn) else 0


def _is_long(turn: ToolTurn) -> bool:
    return len(turn.output) > LONGER_THAN
