"""What a run keeps of the files it changed is bounded, whatever its sandbox says."""

from __future__ import annotations

from datetime import UTC, datetime

from backend_api.domain.agent.changed_files import MAX_FILES
from backend_api.domain.agent.events import Event, FilesChanged
from backend_api.domain.agent.run_progress import RunProgress

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_each_is_kept_once_in_its_order_and_no_more_than_the_bound() -> None:
    progress = RunProgress("r")
    for begin in range(0, 3_000, 100):
        paths = [f"{number}" for number in (*range(begin, begin + 100), 0)]
        event = Event(
            seq=begin + 1, at=AT, session_id="s", run_id="r", payload=FilesChanged(paths=paths, origin="agent")
        )
        progress.apply(event)
    assert progress.files == [f"{number}" for number in range(MAX_FILES)]
