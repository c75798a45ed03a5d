"""How a run ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backend_api.domain.agent.events import Event, RunEnd, StoredPayload, ToolCalled, ToolFinished
from backend_api.domain.agent.recorded import Recorded
from backend_api.domain.agent.thread import RunProgress

_NOT_BEGUN = "Not begun. Stopped."
_CUT = "Stopped before it ended. Part of it may have happened."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the loop ended. `code` is the stable code of an error event, None where nothing went wrong; `said` is what
    is stored together with the end."""

    status: RunEnd
    reason: str | None = None
    code: str | None = None
    retryable: bool = False
    said: tuple[StoredPayload, ...] = ()


def cut_by_stop(run_id: str, events: Iterable[Event], *, but: Iterable[Recorded]) -> list[Recorded]:
    """The results of the calls that are open in a run which is stopped while nobody has it; `events` are those
    of calls, and `but` has the results of some. A call ends after those of the agent that works on it."""
    progress = RunProgress(run_id)
    for event in events:
        progress.apply(event)

    def cut(called: ToolCalled) -> ToolFinished:
        why = _NOT_BEGUN if called.call_id in progress.needing_approval else _CUT
        return ToolFinished(
            call_id=called.call_id, success=False, preview=why, cancelled=True, agent_id=called.agent_id
        )

    ended = {item.payload.call_id for item in but if isinstance(item.payload, ToolFinished)}
    calls = [called for call_id, called in progress.open_calls.items() if call_id not in ended]
    calls.sort(key=lambda called: called.agent_id is None)
    return [Recorded(payload=cut(called)) for called in calls]
