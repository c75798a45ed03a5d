"""Tools that the session switched off are refused."""

from __future__ import annotations

from backend_api.agent.capability import ALLOW, Capability, Deny, ProposedCall, Setup, Verdict
from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_rules import is_named_in_any_case


def switched_off(tool: ToolSpec) -> Deny:
    """The refusal that the model reads for a tool that the person's options or preset exclude."""
    return Deny(
        f"The person switched {tool.name} off for this conversation. Do without it, or say what you need it for."
    )


def _judge(setup: Setup, call: ProposedCall) -> Verdict:
    is_denied = is_named_in_any_case(call.tool.name, setup.options.denied_tools)
    return switched_off(call.tool) if is_denied else ALLOW


DENIED_TOOLS = Capability(name="denied tools", gate=_judge)
