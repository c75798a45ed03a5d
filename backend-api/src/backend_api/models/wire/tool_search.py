"""Tools that a model has loaded, sent in the form of a provider's own tool search.

Loading is the same everywhere: a call of `load_tools`, whose recorded result has the definitions. A provider with a
tool search of its own is sent references or definitions in place of that text, and its model calls the tools by their
names, as it was trained to. For other providers, and for results without definitions, it stays text.

Sources: Anthropic's documentation of its tool search tool ("Custom tool search implementation"), and OpenAI's guide on
tool search ("Client-executed tool search").
"""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.model import ModelRequest, ToolTurn
from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_families import LOAD_TOOL, defined_in
from backend_api.models.model_facts import ModelFacts


def searches(request: ModelRequest, facts: ModelFacts) -> bool:
    """Whether to use that form: the model knows its provider's search, and may load tools now."""
    return facts.tool_search is True and any(tool.name == LOAD_TOOL for tool in request.tools)


def found_by(turn: ToolTurn) -> Sequence[ToolSpec]:
    """The tools that this result defines; none if it says anything else."""
    is_plain = turn.name == LOAD_TOOL and turn.success and not turn.note and not turn.pictures
    return defined_in(turn.output) if is_plain else ()


def loaded_in(request: ModelRequest) -> list[ToolSpec]:
    """The tools that results in the conversation define, without those already in the request: each once, by its last
    definition."""
    told = {tool.name for tool in request.tools}
    found = {tool.name: tool for turn in request.turns if isinstance(turn, ToolTurn) for tool in found_by(turn)}
    return [tool for name, tool in found.items() if name not in told]
