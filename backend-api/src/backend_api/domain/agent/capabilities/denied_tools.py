"""It leaves alone the tools that the session switched off."""

from __future__ import annotations

from backend_api.domain.agent.capability import Capability, Deny, Setup
from backend_api.domain.agent.tools import ToolSpec


def _gate(setup: Setup, tool: ToolSpec) -> Deny | None:
    if tool.name not in (setup.options.denied_tools or ()):
        return None
    return Deny(
        f"The person switched {tool.name} off for this conversation. Do without it, or say what you need it for."
    )


DENIED_TOOLS = Capability(name="denied tools", gate=_gate)
