"""It uses so many turns and tokens in a run, and ends with a reason that a person understands."""

from __future__ import annotations

from backend_api.domain.agent.capability import Capability, Setup
from backend_api.domain.agent.ending import Ending
from backend_api.domain.agent.thread import Conversation


def budget(*, max_tokens: int) -> Capability:
    """Turns are answers of the model in the run, as many as its options allow; tokens are what it read anew (cached
    input is not counted) and wrote."""

    def brake(setup: Setup, conversation: Conversation) -> Ending | None:
        turns = setup.options.max_turns
        if turns is not None and conversation.next_turn > turns:
            return _over(f"The run reached its limit of {turns} turns (max_turns).", code="turn_budget")
        usage = conversation.usage
        used = usage.input - usage.cached + usage.output
        if used >= max_tokens:
            return _over(f"The run used {used} tokens of {max_tokens} (MAX_TOKEN_BUDGET).", code="token_budget")
        return None

    return Capability(name="budget", brake=brake)


def _over(reason: str, *, code: str) -> Ending:
    return Ending(status="failed", reason=f"{reason} Send a message to go on.", code=code, retryable=True)
