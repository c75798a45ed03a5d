"""The preset's prompt, and the limit to its tools."""

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
    # A preset can't block the way out of the plan mode that the person chose, nor the way to the other tools.
    return tool.name == EXIT_TOOL or tool.name in PAIR or setup.preset.has(tool.name)


def _judge(setup: Setup, call: ProposedCall) -> Verdict:
    return ALLOW if _has(setup, call.tool) else switched_off(call.tool)


def _sections(setup: Setup) -> Sequence[str]:
    return [setup.preset.prompt] if setup.preset.prompt else []


PRESET = Capability(name="preset", sections=_sections, offers=_offered_tools, gate=_judge)
