"""A summary of the conversation is followed by the agent's plan, as it was recorded."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capability import Capability, Setup
from backend_api.agent.conversation import Conversation
from backend_api.agent.shortening import shorten

KEPT_PLAN_CHARACTERS = 8_000
"""The longest plan beside a summary; a longer one is cut in the middle."""
_APPROVED = "The plan that the person approved, as it was recorded:\n\n{plan}"
_STEPS = "The steps as they were told last:\n{steps}"


def _notes_after_compaction(setup: Setup, conversation: Conversation) -> Sequence[str]:
    del setup
    plan, kept = conversation.plan, list[str]()
    if plan.approved is not None:
        kept.append(_APPROVED.format(plan=shorten(plan.approved, KEPT_PLAN_CHARACTERS)))
    if plan.steps:
        lines = [f"- [{one.status}] {one.title}{f': {one.result}' if one.result else ''}" for one in plan.steps]
        kept.append(_STEPS.format(steps="\n".join(lines)))
    return kept


PLAN_STEPS = Capability(name="plan steps", notes_after_compaction=_notes_after_compaction)
