"""The end of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend_api.agent.events import Event, RunEnd, StoredPayload, TeammateUpdated, ToolCalled, ToolFinished
from backend_api.agent.new_events import NewEvent
from backend_api.agent.open_agents import OpenAgents
from backend_api.agent.run_progress import RunProgress
from backend_api.agent.team import Team, updated

_NOT_BEGUN = "Not begun. Stopped."
_CUT = "Stopped before it ended. Part of it may have happened."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The end of the loop. `code` is the stable code of an error event, None if nothing went wrong; `said` are events
    stored together with the end."""

    status: RunEnd
    reason: str | None = None
    code: str | None = None
    retryable: bool = False
    said: tuple[StoredPayload, ...] = ()


def cut_by_stop(run_id: str, events: Iterable[Event], so_far: Sequence[NewEvent]) -> list[NewEvent]:
    """The events that close a run which is stopped while no worker holds it: `so_far`, then the results of the other
    open calls, the end of each sub-agent right after the call it works on, and of each teammate. `events` are those of
    the run's calls and agents. The calls of a sub-agent end before the call that it works on."""
    progress, agents, team = RunProgress(run_id), OpenAgents(), Team()
    for event in events:
        progress.apply(event)
        agents.note(event.payload)
        if isinstance(event.payload, TeammateUpdated):
            team.apply_update(event.payload)

    def cut(called: ToolCalled) -> ToolFinished:
        has_begun = called.call_id not in progress.needing_approval
        return ToolFinished(
            call_id=called.call_id,
            success=False,
            preview=_CUT if has_begun else _NOT_BEGUN,
            cancelled=True,
            has_begun=has_begun,
            agent_id=called.agent_id,
        )

    ended = {item.payload.call_id for item in so_far if isinstance(item.payload, ToolFinished)}
    calls = [called for call_id, called in progress.open_calls.items() if call_id not in ended]
    calls.sort(key=lambda called: called.agent_id is None)
    left = [NewEvent(payload=updated(one, "left", reason="run_ended")) for one in team.present()]
    return [*agents.with_ends([*so_far, *(NewEvent(payload=cut(called)) for called in calls)], {}), *left]
