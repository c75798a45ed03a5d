"""It changes nothing without a person's approval, where the session wants to be asked."""

from __future__ import annotations

from backend_api.domain.agent.capability import ALLOW, Ask, Capability, ProposedCall, Setup, Verdict

EXPIRES_S = 300.0


def _gate(setup: Setup, call: ProposedCall) -> Verdict:
    if not setup.options.enable_approval or call.tool.read_only:
        return ALLOW
    return Ask(EXPIRES_S)


APPROVAL = Capability(name="approval", gate=_gate)
