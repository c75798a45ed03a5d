"""How long a run has worked, by its events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from backend_api.agent.events import Event, Payload, RunStarted, ToolStarted
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
