"""It leaves alone the tools that the session switched off."""

from __future__ import annotations

from backend_api.domain.agent.capability import ALLOW, Capability, Deny, ProposedCall, Setup, Verdict
from backend_api.domain.agent.tool_rules import is_named
from backend_api.domain.agent.tools import ToolSpec


def switched_off(tool: ToolSpec) -> Deny:
    """What the model reads of a tool that the person's choices leave out, whichever of them."""
    return Deny(
        f"The person switched {tool.name} off for this conversation. Do without it, or say what you need it for."
    )


def _gate(setup: Setup, call: ProposedCall) -> Verdict:
    return switched_off(call.tool) if is_named(call.tool.name, setup.options.denied_tools) else ALLOW


DENIED_TOOLS = Capability(name="denied tools", gate=_gate)
