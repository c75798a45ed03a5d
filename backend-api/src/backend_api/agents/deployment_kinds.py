"""The kinds of sub-agents that all users have, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backend_api.agent.model import ModelInfo
from backend_api.agent.presets.kind_files import read_kinds
from backend_api.agent.subagent_kinds import BUILT_IN, SubagentKind
from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_rules import FOREIGN_PREFIX, is_named


def build_kinds(folder: Path | None, models: Sequence[ModelInfo], tools: Sequence[ToolSpec]) -> list[SubagentKind]:
    """The product's kinds, then the deployment's. Raises `ValueError` that names the file and the reason."""
    kinds = read_kinds(folder) if folder is not None else []
    for kind in kinds:
        if fault := _fault(kind, models, tools):
            raise ValueError(f"The agent {kind.name} ({folder}/{kind.name}.md) can't be used: {fault}")
    return [*BUILT_IN, *kinds]


def _fault(kind: SubagentKind, models: Sequence[ModelInfo], tools: Sequence[ToolSpec]) -> str | None:
    for rule in sorted(kind.tools or ()):
        if rule.startswith(FOREIGN_PREFIX):
            continue
        if not any(is_named(tool.name, [rule]) and not tool.asks_person for tool in tools):
            known = ", ".join(sorted(tool.name for tool in tools if not tool.asks_person))
            return f"tools: there is no tool {rule} for sub-agents. Tools: {known}"
    if kind.model is not None and all(model.id != kind.model for model in models):
        return f"model: {kind.model} is not available. Models: {', '.join(model.id for model in models)}"
    return None
