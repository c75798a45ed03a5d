"""An estimate of the tokens in the next model call that the provider did not count at the last one."""

from __future__ import annotations

from collections.abc import Iterator

from backend_api.agent.capability import Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.model import pictures_in
from backend_api.agent.pictures import MOST_PICTURES
from backend_api.agent.sizes import PICTURE_TOKENS, most_tokens, texts_of


async def uncounted_tokens(setup: Setup, conversation: Conversation) -> int:
    """An estimate: of what came since the last call, or, if no count is known, of the whole conversation and its
    prompt."""
    return _beside_texts(conversation) + await setup.count_tokens(_texts(setup, conversation))


def most_uncounted_tokens(setup: Setup, conversation: Conversation) -> int:
    """An upper bound for any vocabulary, found without counting."""
    return _beside_texts(conversation) + sum(map(most_tokens, _texts(setup, conversation)))


def _texts(setup: Setup, conversation: Conversation) -> Iterator[str]:
    yield from texts_of(conversation.turns[conversation.uncounted_from :])
    if not conversation.context_tokens:
        yield from (tool.offer for tool in setup.prompt_tools)


def _beside_texts(conversation: Conversation) -> int:
    """Tokens of pictures, and of the system prompt, of which only the size is at hand."""
    opened, begin, tokens = conversation.opened, conversation.uncounted_from, 0
    if opened is not None and opened.vision:
        shown = sum(index >= begin for index in conversation.pictures[-MOST_PICTURES:])
        further = sum(max(0, pictures_in(turn) - 1) for turn in conversation.turns[begin:])
        tokens += PICTURE_TOKENS * (shown + further)
    if opened is not None and not conversation.context_tokens:
        tokens += opened.system.size // 4
    return tokens
