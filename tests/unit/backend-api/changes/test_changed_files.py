"""The files that turns changed, joined over the turns."""

from __future__ import annotations

import itertools
from typing import Any, Literal

from backend_api.agent.changed_files import MAX_FILES
from backend_api.agent.events import FilesChanged, StoredPayload, ToolCalled, ToolFinished
from backend_api.changes.domain.changed_files import (
    MAX_SHOWN_CHARACTERS,
    MAX_WORK,
    ChangedFile,
    FileChanges,
    files_there,
)
from backend_api.changes.domain.differences import MAX_LINES

_IDS = itertools.count()


def told(
    paths: list[str], removed: tuple[str, ...] = (), origin: Literal["agent", "user"] = "agent"
) -> list[StoredPayload]:
    return [FilesChanged(paths=[*paths, *removed], origin=origin, removed=[*removed])]


def called(display: dict[str, Any], text: str | None = None, *, success: bool = True) -> list[StoredPayload]:
    call_id = f"c{next(_IDS)}"
    given = {} if text is None else {"content": text}
    events: list[StoredPayload] = [
        ToolCalled(call_id=call_id, name="file", arguments=given, phrase=""),
        ToolFinished(call_id=call_id, success=success, preview="", display=display),
    ]
    return [*events, *(told([display["path"]]) if success else [])]


def wrote(path: str, text: str, operation: str = "write", **told: bool | str | None) -> list[StoredPayload]:
    return called({"type": "file", "path": path, "operation": operation, **told}, text)


def edited(path: str, old: str, new: str, line: int = 1, *, success: bool = True) -> list[StoredPayload]:
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -{line} +{line} @@\n-{old}\n+{new}"
    return called({"type": "diff", "path": path, "diff": diff}, success=success)


def files(*events: list[StoredPayload], there: tuple[str, ...] = ()) -> list[ChangedFile]:
    changes = FileChanges()
    for payload in itertools.chain(*events):
        changes.take(payload)
    return changes.files(there)


def counted(found: list[ChangedFile]) -> list[tuple[str, int, int, bool]]:
    return [(one.path, one.added, one.removed, one.is_known) for one in found]


def test_a_file_of_two_turns_has_its_one_difference() -> None:
    found = files(edited("/workspace/a.py", "x", "y"), wrote("b.md", "1\n2\n"), edited("a.py", "y", "z"))
    assert counted(found) == [("a.py", 1, 1, True), ("b.md", 2, 0, True)]
    assert found[0].diffs == ("@@ -1,1 +1,1 @@\n-x\n+z",)


def test_a_file_that_is_as_before_or_came_and_went_is_left_out() -> None:
    back = [edited("a.py", "x", "y"), edited("a.py", "y", "x")]
    assert files(*back, wrote("b.md", "1"), told([], ("b.md",)), told(["out/c"]), told([], ("out",))) == []


def test_a_file_that_is_written_over_shows_what_it_lost() -> None:
    over = wrote("a.txt", "new", replaced=True, diff="@@ -1 +1 @@\n-hello\n+new")
    (found,) = files(over)
    assert (found.added, found.removed, found.is_rewritten) == (1, 1, False)
    (joined,) = files(over, wrote("a.txt", "newer", replaced=True, diff="@@ -1 +1 @@\n-new\n+newer"))
    assert joined.diffs == ("@@ -1,1 +1,1 @@\n-hello\n+newer",)
    assert files(wrote("a.txt", "hello", replaced=True, diff="")) == []
    (gone,) = files(over, told([], ("a.txt",)))
    assert gone.is_removed


def test_a_file_of_which_nobody_knows_what_it_lost_is_told_as_written_over() -> None:
    for replaced, diff in ((None, None), (True, None), (True, "@@ -1 +1 @@\n-hel[... left out ...]")):
        (found,) = files(wrote("a.txt", "new", replaced=replaced, diff=diff))
        assert (found.added, found.removed, found.is_rewritten) == (1, 0, True)
    made = wrote("a.txt", "one", replaced=False)
    for more in ([], wrote("a.txt", "two", replaced=True)):
        (found,) = files(made, more)
        assert (found.added, found.is_rewritten) == (1, False)
    (again,) = files(edited("a.txt", "x", "y"), told([], ("a.txt",)), made)
    assert again.is_rewritten


def test_a_file_that_was_there_and_is_deleted_is_told_as_that() -> None:
    gone = files(edited("a.py", "x", "y"), told([], ("a.py", "b.md", "c.md")), there=("b.md",))
    assert gone == [ChangedFile(path="a.py", is_removed=True), ChangedFile(path="b.md", is_removed=True)]
    (again,) = files(edited("a.py", "x", "y"), told([], ("a.py",)), wrote("a.py", "new"))
    assert (again.is_removed, again.added, again.removed) == (False, 1, 0)


def test_what_a_command_or_the_person_changes_in_between_keeps_differences_apart() -> None:
    for between in (told(["a.py"]), told(["a.py"], origin="user")):
        (found,) = files(edited("a.py", "x", "y"), between, edited("a.py", "q", "z"))
        assert len(found.diffs) == 2
        assert counted([found]) == [("a.py", 2, 2, True)]
    assert counted(files(told(["c.png"]), told(["mine.txt"], origin="user"))) == [("c.png", 0, 0, False)]


def test_what_does_not_fit_stays_apart_and_a_failed_call_changes_nothing() -> None:
    (found,) = files(edited("a.py", "x", "y"), edited("a.py", "not y", "z"), edited("a.py", "z", "!", success=False))
    assert found.diffs == ("@@ -1,1 +1,1 @@\n-x\n+y", "@@ -1,1 +1,1 @@\n-not y\n+z")
    cut = called({"type": "diff", "path": "b.py", "diff": "@@ -1,9 +1,9 @@\n-a\n[...]"})
    assert counted(files(cut)) == [("b.py", 0, 0, False)]


def test_a_written_file_counts_as_it_is_now() -> None:
    (found,) = files(edited("a", "x", "y"), wrote("a", "1\n2\n"), wrote("a", "3\n", "append"), edited("a", "3", "4", 3))
    assert found.diffs == ("@@ -0,0 +1,3 @@\n+1\n+2\n+4",)
    (added,) = files(edited("a", "x", "y"), wrote("a", "3\n", "append"), edited("a", "3", "4", 9))
    assert len(added.diffs) == 3


def test_files_and_differences_are_bounded() -> None:
    assert len(files(*(told([f"{number}"]) for number in range(MAX_FILES + 5)))) == MAX_FILES
    most = files(wrote("a", "a" * (MAX_SHOWN_CHARACTERS - 100)), wrote("b", "b" * 200), wrote("c", "c"))
    assert [(one.is_cut, one.added, len(one.diffs)) for one in most] == [(False, 1, 1), (True, 1, 0), (False, 1, 1)]


def test_more_lines_than_are_joined_are_counted_and_not_shown() -> None:
    many = "x\n" * (MAX_LINES + 1)
    (written,) = files(edited("a", "x", "y"), wrote("a", many), edited("a", "x", "y"))
    assert (written.is_cut, written.added, written.removed, written.diffs) == (True, MAX_LINES + 2, 1, ())
    (appended,) = files(edited("a", "x", "y"), wrote("a", many, "append"))
    assert (appended.is_cut, appended.added) == (True, MAX_LINES + 2)
    (again,) = files(wrote("a", many), wrote("a", "short"))
    assert (again.is_cut, again.added) == (False, 1)


def test_joining_ends_where_it_is_too_much_work() -> None:
    most = wrote("a", "x\n" * MAX_LINES)
    edits = [edited("a", "x", "x", MAX_LINES) for _ in range(MAX_WORK // MAX_LINES + 5)]
    found = files(most, *edits, wrote("b", "1\n2"), edited("c", "x", "y"))
    assert counted(found[1:]) == [("b", 2, 0, True), ("c", 0, 0, False)]
    assert [one.is_cut for one in found] == [False, True, False]


def test_whether_a_file_was_there_is_what_was_told_of_it_last() -> None:
    newest_first = [
        FilesChanged(paths=["a", "out"], origin="agent", removed=["out"]),
        FilesChanged(paths=["out/b", "c"], origin="user"),
        FilesChanged(paths=["a"], origin="agent", removed=["a"]),
    ]
    assert files_there(newest_first, ["a", "out/b", "c", "d"]) == {"a", "c"}
