"""It leaves alone the tools that the session switched off."""

from __future__ import annotations

from backend_api.domain.agent.capability import ALLOW, Capability, Deny, ProposedCall, Setup, Verdict
from backend_api.domain.agent.tool_rules import is_named


def _gate(setup: Setup, call: ProposedCall) -> Verdict:
    if not is_named(call.tool.name, setup.options.denied_tools):
        return ALLOW
    return Deny(
        f"The person switched {call.tool.name} off for this conversation. Do without it, or say what you need it for."
    )


DENIED_TOOLS = Capability(name="denied tools", gate=_gate)
