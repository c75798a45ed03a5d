"""What the agent can beside its loop, in the order in which it is told of it. A new one is a file and a line here."""

from __future__ import annotations

from backend_api.domain.agent.capabilities.approval import approval
from backend_api.domain.agent.capabilities.budget import budget
from backend_api.domain.agent.capabilities.compaction import THRESHOLD, compaction
from backend_api.domain.agent.capabilities.computer import COMPUTER
from backend_api.domain.agent.capabilities.continuation import CONTINUATION
from backend_api.domain.agent.capabilities.current_date import DAY
from backend_api.domain.agent.capabilities.denied_tools import DENIED_TOOLS
from backend_api.domain.agent.capabilities.identity import IDENTITY
from backend_api.domain.agent.capabilities.instructions import CONDUCT
from backend_api.domain.agent.capabilities.old_results import MIN_TOKENS, old_results
from backend_api.domain.agent.capabilities.pictures import PICTURES
from backend_api.domain.agent.capabilities.plan_mode import PLAN_MODE
from backend_api.domain.agent.capabilities.repetition import REPETITION
from backend_api.domain.agent.capabilities.subagent import SUBAGENT
from backend_api.domain.agent.capabilities.turn_limit import TURN_LIMIT
from backend_api.domain.agent.capabilities.verification import VERIFICATION
from backend_api.domain.agent.capability import Capability, ToolSource


def capabilities(
    *sources: ToolSource,
    max_tokens: int = 200_000,
    max_output_tokens: int = 16_384,
    max_cost: float | None = None,
    max_minutes: float | None = None,
    micro_compact_min_tokens: int = MIN_TOKENS,
    compact_threshold: float = THRESHOLD,
    approval_timeout_s: float = 300.0,
) -> tuple[Capability, ...]:
    """The deployment's, with the tools of these sources."""
    return (
        IDENTITY,
        COMPUTER,
        *(Capability(name="tools", tools=source.tools) for source in sources),
        CONDUCT,
        VERIFICATION,
        SUBAGENT,
        PLAN_MODE,
        PICTURES,
        old_results(min_tokens=micro_compact_min_tokens),
        DAY,
        DENIED_TOOLS,
        approval(expires_s=approval_timeout_s),
        compaction(threshold=compact_threshold),
        TURN_LIMIT,
        budget(max_tokens=max_tokens, max_output_tokens=max_output_tokens, max_cost=max_cost, max_minutes=max_minutes),
        REPETITION,
        CONTINUATION,
    )
