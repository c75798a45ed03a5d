"""It uses so many turns and tokens in a run, and ends with a reason that a person understands."""

from __future__ import annotations

import json
from collections.abc import Iterator

from backend_api.domain.agent.capabilities.pictures import MOST
from backend_api.domain.agent.capability import LATER, Capability, Later, Setup
from backend_api.domain.agent.ending import Ending
from backend_api.domain.agent.model import AssistantTurn, NoteTurn, ToolTurn, Turn, UserTurn
from backend_api.domain.agent.thread import Conversation

CHARACTERS_A_TOKEN = 4
"""Of ASCII. Any other is taken for a token of its own."""
PICTURE_TOKENS = 1_600
PROMPT_CHARACTERS = 4_000
"""Of the system prompt, before an opening tells how long it is."""


def budget(*, max_tokens: int, max_output_tokens: int = 16_384) -> Capability:
    """Turns are answers of the model in the run, as many as its options allow; tokens are what it read anew (cached
    input is not counted) and wrote. Both are those of all of the run's agents together. The last turn is the main
    one's, so that it can read what the others found; and where answers at once, each as long as it may become and to as
    much as this agent is about to have read, could use more tokens than are left, they are asked for one by one."""

    def brake(setup: Setup, conversation: Conversation) -> Ending | Later | None:
        turns, is_main = setup.options.max_turns, setup.kind == "main"
        next_turn = conversation.next_turn + conversation.turns_of_others
        if turns is not None and next_turn + (not is_main) > turns:
            return _over(
                f"The run reached its limit of {turns} {'turn' if turns == 1 else 'turns'} (max_turns).",
                code="turn_budget",
                is_main=is_main,
            )
        usage = conversation.usage
        used = usage.input - usage.cached + usage.output
        if used >= max_tokens:
            reason = f"The run used {used} tokens of {max_tokens} (MAX_TOKEN_BUDGET)."
            return _over(reason, code="token_budget", is_main=is_main)
        if at_work := conversation.others_at_work:
            each = max_output_tokens + _tokens_read(setup, conversation)
            if used + (at_work + 1) * each > max_tokens:
                return LATER
        return None

    return Capability(name="budget", brake=brake)


def _over(reason: str, *, code: str, is_main: bool) -> Ending:
    told = f"{reason} Send a message to go on." if is_main else reason
    return Ending(status="failed", reason=told, code=code, retryable=True)


def _tokens_read(setup: Setup, conversation: Conversation) -> int:
    """About as many as the next answer costs to read, were nothing of it cached."""
    opened = conversation.opened
    characters = opened.system.size if opened else PROMPT_CHARACTERS
    characters += sum(_weight(tool.offer) for tool in setup.tools)
    characters += sum(_weight(text) for turn in conversation.turns for text in _texts(turn))
    pictures = min(len(conversation.pictures), MOST) if opened and opened.vision else 0
    return characters // CHARACTERS_A_TOKEN + pictures * PICTURE_TOKENS


def _texts(turn: Turn) -> Iterator[str]:
    match turn:
        case UserTurn():
            yield turn.text
            yield from turn.attachments
        case NoteTurn():
            yield turn.text
        case ToolTurn():
            yield turn.output
            yield turn.note
        case AssistantTurn():
            yield turn.text
            for thinking in turn.thinking:
                yield thinking.text
                yield thinking.signature or ""
                yield thinking.opaque or ""
            for call in turn.calls:
                yield call.name
                yield json.dumps(call.arguments, ensure_ascii=False)


def _weight(text: str) -> int:
    """As many characters of ASCII as have its tokens."""
    if text.isascii():
        return len(text)
    plain = len(text.encode("ascii", "ignore"))
    return plain + (len(text) - plain) * CHARACTERS_A_TOKEN
