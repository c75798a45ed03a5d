"""It uses so many turns and tokens in a run, and ends with a reason that a person understands."""

from __future__ import annotations

from backend_api.domain.agent.capability import LATER, Capability, Later, Setup
from backend_api.domain.agent.ending import Ending
from backend_api.domain.agent.thread import Conversation

CHARACTERS_A_TOKEN = 4


def budget(*, max_tokens: int, max_output_tokens: int = 16_384) -> Capability:
    """Turns are answers of the model in the run, as many as its options allow; tokens are what it read anew (cached
    input is not counted) and wrote. Both are those of all of the run's agents together. The last turn is the main
    one's, so that it can read what the others found; and where answers at once, each as long as it may become, could
    use more tokens than are left, they are asked for one after the other."""

    def brake(setup: Setup, conversation: Conversation) -> Ending | Later | None:
        turns, is_main = setup.options.max_turns, setup.kind == "main"
        next_turn = conversation.next_turn + conversation.turns_of_others
        if turns is not None and next_turn + (not is_main) > turns:
            return _over(
                f"The run reached its limit of {turns} turns (max_turns).", code="turn_budget", is_main=is_main
            )
        usage = conversation.usage
        used = usage.input - usage.cached + usage.output
        if used >= max_tokens:
            reason = f"The run used {used} tokens of {max_tokens} (MAX_TOKEN_BUDGET)."
            return _over(reason, code="token_budget", is_main=is_main)
        if at_work := conversation.others_at_work:
            each = max_output_tokens + _characters(conversation) // CHARACTERS_A_TOKEN
            if used + (at_work + 1) * each > max_tokens:
                return LATER
        return None

    return Capability(name="budget", brake=brake)


def _over(reason: str, *, code: str, is_main: bool) -> Ending:
    told = f"{reason} Send a message to go on." if is_main else reason
    return Ending(status="failed", reason=told, code=code, retryable=True)


def _characters(conversation: Conversation) -> int:
    return sum(len(getattr(turn, "text", "") or getattr(turn, "output", "")) for turn in conversation.turns)
