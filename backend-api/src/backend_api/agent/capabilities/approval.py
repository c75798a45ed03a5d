"""Calls that change something wait for a person's approval, if the session or the model's provider wants one."""

from __future__ import annotations

from backend_api.agent.capability import ALLOW, Ask, Capability, ProposedCall, Setup, Verdict
from backend_api.agent.tool_rules import is_command_allowed, is_named, is_named_in_any_case


def approval(*, expires_s: float) -> Capability:
    """A call undecided after `expires_s` seconds is denied. A call that its provider holds back always needs an
    approval, whatever the session's rules are; of the others, one that reads never does. The rule that allows the exact
    command comes first, then the one that asks, then the one that allows the tool, and all come before
    `enable_approval`."""

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
