"""A run has a budget of tokens, money and time, and ends with a reason that a person understands."""

from __future__ import annotations

from datetime import timedelta

from backend_api.agent.capability import DEFER, Capability, Setup, WaitForOthers
from backend_api.agent.context_size import most_uncounted_tokens, uncounted_tokens
from backend_api.agent.conversation import Conversation
from backend_api.agent.ending import Ending
from backend_api.agent.model import MAX_OUTPUT_TOKENS
from service_kit.amounts import duration_text

PROMPT_TOKENS = 1_000
"""An estimate for the system prompt, before an opening records its size."""


def budget(
    *,
    max_tokens: int,
    max_output_tokens: int = MAX_OUTPUT_TOKENS,
    max_cost: float | None = None,
    max_minutes: float | None = None,
) -> Capability:
    """Tokens are those that were new to a conversation: what a call read beyond the call before it, and what it wrote
    (`Usage.new`). The cost is in US dollars, as far as it is known. Minutes are those in which a worker had the run:
    they are checked before each turn, so that the last answer and its calls may take longer. All of the run's agents
    count together. If answers at the same time could use more tokens than are left, they are requested one by one; each
    is taken to be as long as allowed, and to read everything that is new to this agent."""

    async def brake(setup: Setup, conversation: Conversation) -> Ending | WaitForOthers | None:
        usage, is_main = conversation.usage, setup.kind == "main"
        if usage.new >= max_tokens:
            reason = f"The run used {usage.new} tokens of {max_tokens} (MAX_TOKEN_BUDGET)."
            return _exceeded(reason, code="token_budget", is_main=is_main)
        if max_cost is not None and usage.known_cost >= max_cost:
            reason = f"The run cost {usage.known_cost:.2f} of {max_cost:.2f} US dollars (MAX_RUN_COST)."
            return _exceeded(reason, code="cost_budget", is_main=is_main)
        if max_minutes is not None and conversation.worked_until(setup.now()) >= timedelta(minutes=max_minutes):
            reason = f"The run worked for {duration_text(max_minutes * 60)} (MAX_RUN_MINUTES)."
            return _exceeded(reason, code="time_budget", is_main=is_main)
        if at_work := conversation.others_at_work:
            prompt = PROMPT_TOKENS if conversation.opened is None else 0
            left_each = (max_tokens - usage.new) / (at_work + 1) - max_output_tokens - prompt
            # Usually much is left, and no exact count is needed.
            is_close = most_uncounted_tokens(setup, conversation) > left_each
            if is_close and await uncounted_tokens(setup, conversation) > left_each:
                return DEFER
        return None

    return Capability(name="budget", brake=brake)


def _exceeded(reason: str, *, code: str, is_main: bool) -> Ending:
    text = f"{reason} Send a message to go on." if is_main else reason
    return Ending(status="failed", reason=text, code=code, retryable=True)
