"""How long a run has worked, by its events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from backend_api.agent.events import ApprovalRequested, Event, Payload, RunStarted, SubagentStarted, ToolStarted
from backend_api.agent.run_progress import RunProgress

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


def event(after_s: float, payload: Payload) -> Event:
    at = BEGUN + timedelta(seconds=after_s)
    return Event(seq=1, at=at, session_id="s", run_id="r", payload=payload)


def test_a_clock_that_was_set_back_takes_no_time_off() -> None:
    progress = RunProgress("r")
    progress.apply(event(0, RunStarted(run_id="r", message_id=None, model="m", worker="w")))
    progress.apply(event(10, ToolStarted(call_id="c")))
    progress.apply(event(4, ToolStarted(call_id="d")))
    assert progress.worked == timedelta(seconds=10)
    progress.apply_of_another(event(1, ToolStarted(call_id="e", agent_id="a")))
    assert progress.worked == timedelta(seconds=10)
    # From where the clock was set to it goes on.
    progress.apply(event(3, ToolStarted(call_id="f")))
    assert progress.worked == timedelta(seconds=12)


def test_how_long_the_run_had_worked_as_an_agent_began_stays_known_whoever_goes_on() -> None:
    progress = RunProgress("r")
    started = RunStarted(run_id="r", message_id=None, model="m", worker="w")
    begun = SubagentStarted(subagent_id="a", kind="research", task="t", parent_call_id="c")
    progress.apply(event(0, started))
    progress.apply_of_another(event(60, begun))
    progress.apply_of_another(event(90, ToolStarted(call_id="e", agent_id="a")))
    # It waits for a person, and an hour later another worker has the run.
    progress.apply_of_another(event(120, ApprovalRequested(approval_id="p", calls=[], expires_at=None, agent_id="a")))
    progress.apply(event(3_720, started))
    progress.apply_of_another(event(3_750, ToolStarted(call_id="f", agent_id="a")))
    assert progress.worked - progress.worked_before["a"] == timedelta(seconds=90)
