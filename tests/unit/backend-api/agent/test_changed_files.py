"""Which files a run is said to have changed: those that are there at its end, bounded whatever its sandbox says."""

from __future__ import annotations

from datetime import UTC, datetime

from backend_api.agent.changed_files import MAX_FILES, add_changed, changed_by
from backend_api.agent.events import Event, FilesChanged
from backend_api.agent.run_progress import RunProgress
from backend_api.agent.tool import Done

AT = datetime(2026, 1, 1, tzinfo=UTC)


def changed(*paths: str, removed: tuple[str, ...] = ()) -> FilesChanged:
    return FilesChanged(paths=[*paths, *removed], origin="agent", removed=[*removed])


def test_each_is_kept_once_in_its_order_and_no_more_than_the_bound() -> None:
    progress = RunProgress("r")
    for begin in range(0, 3_000, 100):
        paths = [f"{number}" for number in (*range(begin, begin + 100), 0)]
        event = Event(
            seq=begin + 1, at=AT, session_id="s", run_id="r", payload=FilesChanged(paths=paths, origin="agent")
        )
        progress.apply(event)
    assert progress.files == [f"{number}" for number in range(MAX_FILES)]


def test_a_file_that_is_gone_again_is_none_of_them_also_with_its_folder() -> None:
    files: list[str] = []
    add_changed(files, changed("a.txt", "out/b.txt", "outer.txt", "c.txt"))
    add_changed(files, changed("d.txt", removed=("a.txt", "out", "never.txt")))
    assert files == ["outer.txt", "c.txt", "d.txt"]
    add_changed(files, changed("a.txt"))
    assert files == ["outer.txt", "c.txt", "d.txt", "a.txt"]


def test_a_call_that_changed_nothing_tells_nothing() -> None:
    assert changed_by(Done(success=True, output="")) is None
    told = changed_by(Done(success=True, output="", changed_paths=["a", "b"], removed_paths=["b"]))
    assert told == FilesChanged(paths=["a", "b"], origin="agent", removed=["b"])
