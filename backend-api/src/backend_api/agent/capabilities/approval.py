"""It changes nothing without a person's approval, where the session wants to be asked, or the model's provider does."""

from __future__ import annotations

from backend_api.agent.capability import ALLOW, Ask, Capability, ProposedCall, Setup, Verdict
from backend_api.agent.tool_rules import is_command_allowed, is_named, is_named_in_any_case


def approval(*, expires_s: float) -> Capability:
    """Undecided after `expires_s` seconds a call is denied. What its provider holds back always asks, whatever the
    session's rules say; of the rest, what reads never does. Of its rules the one that allows the exact command
    counts first, then the one that asks, then the one that allows the tool, and all before `enable_approval`."""

    def gate(setup: Setup, call: ProposedCall) -> Verdict:
        options, name = setup.options, call.tool.name
        if call.is_held_back:
            return Ask(expires_s)
        if call.tool.read_only:
            return ALLOW
        if is_command_allowed(name, call.arguments, options.allowed_tools):
            return ALLOW
        if is_named_in_any_case(name, options.asked_tools):
            return Ask(expires_s)
        if not options.enable_approval or is_named(name, options.allowed_tools):
            return ALLOW
        return Ask(expires_s)

    return Capability(name="approval", gate=gate)
