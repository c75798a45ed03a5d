"""It uses so many tokens, so much money and so much time in a run, and ends with a reason that a person understands."""

from __future__ import annotations

from datetime import timedelta

from backend_api.domain.agent.capabilities.pictures import MOST
from backend_api.domain.agent.capability import LATER, Capability, Later, Setup
from backend_api.domain.agent.ending import Ending
from backend_api.domain.agent.model import AssistantTurn
from backend_api.domain.agent.sizes import CHARACTERS_A_TOKEN, PICTURE_TOKENS, weight, weight_of_turn
from backend_api.domain.agent.thread import Conversation

PROMPT_CHARACTERS = 4_000
"""Of the system prompt, before an opening tells how long it is."""


def budget(
    *,
    max_tokens: int,
    max_output_tokens: int = 16_384,
    max_cost: float | None = None,
    max_minutes: float | None = None,
) -> Capability:
    """Tokens are those that were new to a conversation: what a call read beyond the call before it, and what it wrote
    (`Usage.new`). The cost is in US dollars, as far as it is known. Minutes are those in which a worker had the run:
    it is looked at before each turn, so that the last answer and its calls may take longer. All of the run's agents
    count together. Where answers at once, each as long as it may become and to as much as is new to this agent, could
    use more tokens than are left, they are asked for one by one."""

    def brake(setup: Setup, conversation: Conversation) -> Ending | Later | None:
        usage, is_main = conversation.usage, setup.kind == "main"
        if usage.new >= max_tokens:
            reason = f"The run used {usage.new} tokens of {max_tokens} (MAX_TOKEN_BUDGET)."
            return _over(reason, code="token_budget", is_main=is_main)
        if max_cost is not None and usage.known_cost >= max_cost:
            reason = f"The run cost {usage.known_cost:.2f} of {max_cost:.2f} US dollars (MAX_RUN_COST)."
            return _over(reason, code="cost_budget", is_main=is_main)
        if max_minutes is not None and conversation.worked_until(setup.now()) >= timedelta(minutes=max_minutes):
            reason = f"The run worked for {max_minutes:g} minutes (MAX_RUN_MINUTES)."
            return _over(reason, code="time_budget", is_main=is_main)
        if at_work := conversation.others_at_work:
            each = max_output_tokens + _tokens_new(setup, conversation)
            if usage.new + (at_work + 1) * each > max_tokens:
                return LATER
        return None

    return Capability(name="budget", brake=brake)


def _over(reason: str, *, code: str, is_main: bool) -> Ending:
    told = f"{reason} Send a message to go on." if is_main else reason
    return Ending(status="failed", reason=told, code=code, retryable=True)


def _tokens_new(setup: Setup, conversation: Conversation) -> int:
    """About as many as the next answer reads that the one before did not."""
    turns = conversation.turns
    if not conversation.context_tokens:
        opened = conversation.opened
        characters = opened.system.size if opened else PROMPT_CHARACTERS
        characters += sum(weight(tool.offer) for tool in setup.tools)
        begin, pictures = 0, min(len(conversation.pictures), MOST) if opened and opened.vision else 0
    else:
        characters, begin = 0, len(turns)
        while begin and not isinstance(turns[begin - 1], AssistantTurn):
            begin -= 1
        pictures = sum(index >= begin for index in conversation.pictures[-MOST:])
    characters += sum(weight_of_turn(turn) for turn in turns[begin:])
    return characters // CHARACTERS_A_TOKEN + pictures * PICTURE_TOKENS
