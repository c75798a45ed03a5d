"""It works as its preset says, with the tools that this leaves it."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.capabilities.denied_tools import switched_off
from backend_api.agent.capabilities.plan_mode import EXIT_TOOL
from backend_api.agent.capability import ALLOW, Capability, ProposedCall, Setup, Verdict
from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_families import PAIR


def _offered_tools(setup: Setup, tools: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
    return tools if setup.preset.tools is None else [tool for tool in tools if _has(setup, tool)]


def _has(setup: Setup, tool: ToolSpec) -> bool:
    # The way out of plan mode is the person's, who chose that mode, and what leads to tools is none of them.
    return tool.name == EXIT_TOOL or tool.name in PAIR or setup.preset.has(tool.name)


def _judge(setup: Setup, call: ProposedCall) -> Verdict:
    return ALLOW if _has(setup, call.tool) else switched_off(call.tool)


def _sections(setup: Setup) -> Sequence[str]:
    return [setup.preset.prompt] if setup.preset.prompt else []


PRESET = Capability(name="preset", sections=_sections, offers=_offered_tools, gate=_judge)
