"""The agent's capabilities in the order of its prompt. A new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capabilities.approval import approval
from backend_api.agent.capabilities.budget import budget
from backend_api.agent.capabilities.compaction import compaction
from backend_api.agent.capabilities.continuation import CONTINUATION
from backend_api.agent.capabilities.current_date import CURRENT_DATE
from backend_api.agent.capabilities.denied_tools import DENIED_TOOLS
from backend_api.agent.capabilities.folder_instructions import FOLDER_INSTRUCTIONS
from backend_api.agent.capabilities.identity import IDENTITY
from backend_api.agent.capabilities.instructions import INSTRUCTIONS
from backend_api.agent.capabilities.old_results import old_results
from backend_api.agent.capabilities.pictures import PICTURES
from backend_api.agent.capabilities.plan_mode import PLAN_MODE
from backend_api.agent.capabilities.plan_steps import PLAN_STEPS
from backend_api.agent.capabilities.preset import PRESET
from backend_api.agent.capabilities.repetition import REPETITION
from backend_api.agent.capabilities.sandbox import SANDBOX
from backend_api.agent.capabilities.subagent import SUBAGENT
from backend_api.agent.capabilities.subagent_budget import SUBAGENT_BUDGET
from backend_api.agent.capabilities.tasks import TASKS
from backend_api.agent.capabilities.teams import TEAMS
from backend_api.agent.capabilities.todos import TODOS
from backend_api.agent.capabilities.tool_families import TOOL_FAMILIES
from backend_api.agent.capabilities.turn_limit import TURN_LIMIT
from backend_api.agent.capabilities.verification import VERIFICATION
from backend_api.agent.capability import Capability, ToolSource
from backend_api.agent.model import MAX_OUTPUT_TOKENS

# The defaults of the settings of these names.
MAX_TOKEN_BUDGET = 200_000
COMPACT_THRESHOLD = 0.7
MICRO_COMPACT_MIN_TOKENS = 20_000
"""A tenth of the usual window. Reading the rest anew costs some ten times as much as a turn that finds it cached, so a
smaller step takes more than a few turns to pay off."""
APPROVAL_TIMEOUT_S = 300.0


def capabilities(
    *sources: ToolSource,
    of_modules: Sequence[Capability] = (),
    max_tokens: int = MAX_TOKEN_BUDGET,
    max_output_tokens: int = MAX_OUTPUT_TOKENS,
    max_cost: float | None = None,
    max_minutes: float | None = None,
    micro_compact_min_tokens: int = MICRO_COMPACT_MIN_TOKENS,
    compact_threshold: float = COMPACT_THRESHOLD,
    approval_timeout_s: float = APPROVAL_TIMEOUT_S,
) -> tuple[Capability, ...]:
    """The deployment's, with the tools of these sources and the capabilities of modules."""
    own = (
        IDENTITY,
        SANDBOX,
        *(Capability(name="tools", tools=source.tools) for source in sources),
        INSTRUCTIONS,
        PRESET,
        TOOL_FAMILIES,
        VERIFICATION,
        SUBAGENT,
        TEAMS,
        PLAN_MODE,
        PLAN_STEPS,
        TODOS,
        TASKS,
        PICTURES,
        old_results(min_tokens=micro_compact_min_tokens),
        CURRENT_DATE,
        FOLDER_INSTRUCTIONS,
        DENIED_TOOLS,
        approval(expires_s=approval_timeout_s),
        compaction(threshold=compact_threshold),
        TURN_LIMIT,
        budget(max_tokens=max_tokens, max_output_tokens=max_output_tokens, max_cost=max_cost, max_minutes=max_minutes),
        SUBAGENT_BUDGET,
        REPETITION,
        CONTINUATION,
    )
    return _with(own, of_modules)


def _with(own: Sequence[Capability], of_modules: Sequence[Capability]) -> tuple[Capability, ...]:
    """Each capability behind the one that it names, or else behind the last one that has a prompt section."""
    names = {one.name for one in own}
    place = {one.name: one.after if one.after in names else FOLDER_INSTRUCTIONS.name for one in of_modules}
    behind = {name: [one for one in of_modules if place[one.name] == name] for name in names}
    return tuple(one for first in own for one in (first, *behind[first.name]))
