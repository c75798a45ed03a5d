"""The session's plan mode: a fold of its log."""

from __future__ import annotations

from backend_api.agent.events import Payload, PlanDecided, PlanEntered, SessionUpdated
from backend_api.agent.options import AgentMode

OPTION = "enable_plan_mode"


class ModeFold:
    """The mode by the log. `mode` is None until an event sets it, and after the person reset theirs: then the merged
    options decide. A person who changes `enable_plan_mode` changes the mode; any other change of options does not. Old
    logs don't record which options changed."""

    def __init__(self) -> None:
        self.mode: AgentMode | None = None
        self._option: bool | None = None

    def apply(self, payload: Payload) -> None:
        """Add the next event of the session."""
        match payload:
            case PlanEntered():
                self.mode = "plan"
            case PlanDecided(decision="approve"):
                self.mode = "normal"
            case SessionUpdated(options=dict() as options, changed_options=changed):
                chosen = options.get(OPTION)
                if chosen != self._option if changed is None else OPTION in changed:
                    self.mode = None if chosen is None else "plan" if chosen else "normal"
                self._option = chosen
            case _:
                pass
