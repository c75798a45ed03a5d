"""How many tokens the next call of an agent's model reads that its provider did not count at the last one."""

from __future__ import annotations

from backend_api.domain.agent.capability import Setup
from backend_api.domain.agent.conversation import Conversation
from backend_api.domain.agent.model import pictures_in
from backend_api.domain.agent.pictures import MOST_PICTURES
from backend_api.domain.agent.sizes import PICTURE_TOKENS, CountTokens, tokens_of


def uncounted_tokens(setup: Setup, conversation: Conversation, count: CountTokens) -> int:
    """About as many: what came since the last call, or, where nothing of that is known, all of the conversation with
    what stands before it."""
    opened, begin = conversation.opened, conversation.uncounted_from
    tokens = tokens_of(conversation.turns[begin:], count)
    if opened is not None and opened.vision:
        shown = sum(index >= begin for index in conversation.pictures[-MOST_PICTURES:])
        further = sum(max(0, pictures_in(turn) - 1) for turn in conversation.turns[begin:])
        tokens += PICTURE_TOKENS * (shown + further)
    if not conversation.context_tokens:
        tokens += opened.system.size // 4 if opened is not None else 0
        tokens += sum(count(tool.offer) for tool in setup.tools)
    return tokens
