"""File tools over the real endpoint."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest

from contracts.tools import DiffDisplay, FileDisplay
from support.endpoint import RunningEndpoint


@pytest.fixture
def name() -> str:
    return f"f{random.getrandbits(40)}"


def test_a_written_file_reads_back_with_the_folders_it_needs(endpoint: RunningEndpoint, name: str) -> None:
    written = endpoint.call("file_write", path=f"{name}/deep/note.txt", content="one\nzwei ß 你\n")
    assert written.changed_paths == [f"{name}/deep/note.txt"]
    assert endpoint.call("file_read", path=f"{name}/deep/note.txt").output == "one\nzwei ß 你\n"
    assert endpoint.call("file_read", path=f"{endpoint.workspace}/{name}/deep/note.txt").success


def test_a_result_tells_the_instructions_of_the_folders_it_is_from(endpoint: RunningEndpoint, name: str) -> None:
    folder = endpoint.workspace / name / "src"
    folder.mkdir(parents=True)
    (folder / "AGENTS.md").write_text("Tabs, 不要空格.")
    for result in (
        endpoint.call("file_write", path=f"{name}/src/a.py", content="x"),
        endpoint.call("file_read", path=f"{name}/src/a.py"),
        endpoint.call("shell_exec", command=f"cd {endpoint.workspace}/{name}/src && ls", shell=name),
    ):
        assert [(one.path, one.text) for one in result.instructions] == [(f"{name}/src/AGENTS.md", "Tabs, 不要空格.")]
    assert endpoint.call("file_list", path=name).instructions == []


def test_writing_keeps_the_mode_and_leaves_no_temporary_file(endpoint: RunningEndpoint, name: str) -> None:
    folder = endpoint.workspace / name
    folder.mkdir()
    (folder / "run.sh").write_text("old")
    (folder / "run.sh").chmod(0o751)
    endpoint.call("file_write", path=f"{name}/run.sh", content="new")
    assert (folder / "run.sh").stat().st_mode & 0o777 == 0o751
    assert [entry.name for entry in folder.iterdir()] == ["run.sh"]


def test_writing_over_a_file_shows_what_it_lost(endpoint: RunningEndpoint, name: str) -> None:
    def written(content: str) -> tuple[bool | None, str | None]:
        result = endpoint.call("file_write", path=name, content=content)
        assert isinstance(result.display, FileDisplay)
        return result.display.replaced, result.display.diff

    assert written("hello\nthere\n") == (False, None)
    replaced, diff = written("bye\nthere\n")
    assert replaced
    assert diff is not None
    assert diff.splitlines()[2:] == ["@@ -1,2 +1,2 @@", "-hello", "+bye", " there"]
    assert written("bye\nthere\n") == (True, "")
    (endpoint.workspace / name).write_bytes(b"\x00\x01")
    assert written("text") == (True, None)
    assert written("".join(f"{number}{'x' * 90}\n" for number in range(2000))) == (True, None)


def test_a_reader_never_sees_half_a_write(endpoint: RunningEndpoint, name: str) -> None:
    path = endpoint.workspace / name
    path.write_text("a" * 100_000)
    seen: set[str] = set()
    ended = threading.Event()

    def watch() -> None:
        while not ended.is_set():
            seen.add(path.read_text())

    watcher = threading.Thread(target=watch)
    watcher.start()
    for sign in "bcdefgh":
        endpoint.call("file_write", path=name, content=sign * 100_000)
    ended.set()
    watcher.join(5)
    assert all(len(text) == 100_000 and len(set(text)) == 1 for text in seen)


def test_a_range_of_lines_is_read(endpoint: RunningEndpoint, name: str) -> None:
    (endpoint.workspace / name).write_text("".join(f"line {number}\n" for number in range(1, 101)))
    assert endpoint.call("file_read", path=name, start_line=3, end_line=4).output == "line 3\nline 4\n"
    assert "only 100 lines" in endpoint.call("file_read", path=name, start_line=500).output


def test_a_big_file_is_read_in_bounds_and_says_where_to_go_on(endpoint: RunningEndpoint, name: str) -> None:
    (endpoint.workspace / name).write_text("x" * 99 + "\n", encoding="utf-8")
    with (endpoint.workspace / name).open("a") as file:
        for _ in range(100):
            file.write(("y" * 99 + "\n") * 1000)
    result = endpoint.call("file_read", path=name)
    assert len(result.output) < 201_000
    assert "start_line=2001" in result.output


def test_a_binary_file_will_not_be_read_as_text(endpoint: RunningEndpoint, name: str) -> None:
    (endpoint.workspace / name).write_bytes(b"\x00\x01")
    assert not endpoint.call("file_read", path=name).success


def test_append_adds_to_the_end(endpoint: RunningEndpoint, name: str) -> None:
    endpoint.call("file_append", path=name, content="a")
    endpoint.call("file_append", path=name, content="b")
    assert (endpoint.workspace / name).read_text() == "ab"


def test_an_edit_needs_one_exact_match_and_shows_the_difference(endpoint: RunningEndpoint, name: str) -> None:
    (endpoint.workspace / name).write_text("a = 1\nb = 1\n")
    missing = endpoint.call("file_edit", path=name, old="c = 1", new="c = 2")
    assert "does not occur" in missing.output
    twice = endpoint.call("file_edit", path=name, old=" = 1", new=" = 2")
    assert "occurs 2 times" in twice.output
    assert (endpoint.workspace / name).read_text() == "a = 1\nb = 1\n"
    once = endpoint.call("file_edit", path=name, old="b = 1", new="b = 2")
    assert isinstance(once.display, DiffDisplay)
    assert "-b = 1\n+b = 2" in once.display.diff
    assert endpoint.call("file_edit", path=name, old=" = ", new=": ", replace_all=True).success
    assert (endpoint.workspace / name).read_text() == "a: 1\nb: 2\n"


def test_files_are_listed_found_and_searched(endpoint: RunningEndpoint, name: str) -> None:
    folder = endpoint.workspace / name
    (folder / "sub").mkdir(parents=True)
    (folder / "a.py").write_text("import os\n")
    (folder / "sub" / "b.py").write_text("x = 'IMPORT me'\n")
    listed = endpoint.call("file_list", path=name)
    assert isinstance(listed.display, FileDisplay)
    assert listed.display.entries == ["sub/", "a.py"]
    assert endpoint.call("file_find", path=name, pattern="*.py").output == f"{name}/a.py\n{name}/sub/b.py"
    assert endpoint.call("file_find", path=name, pattern="sub/*.py").output == f"{name}/sub/b.py"
    assert endpoint.call("file_search", path=name, pattern="^imp.rt").output == f"{name}/a.py:1:import os"
    assert "sub/b.py:1:" in endpoint.call("file_search", path=name, pattern="import me", ignore_case=True).output
    assert endpoint.call("file_search", path=f"{name}/a.py", pattern="os").output == f"{name}/a.py:1:import os"
    assert not endpoint.call("file_search", path=name, pattern="(").success


def test_files_move_and_do_not_overwrite_unasked(endpoint: RunningEndpoint, name: str) -> None:
    (endpoint.workspace / name).write_text("1")
    (endpoint.workspace / f"{name}-there").write_text("2")
    assert not endpoint.call("file_move", source=name, destination=f"{name}-there").success
    assert (endpoint.workspace / f"{name}-there").read_text() == "2"
    assert endpoint.call("file_move", source=name, destination=f"{name}-there", overwrite=True).success
    assert (endpoint.workspace / f"{name}-there").read_text() == "1"
    (endpoint.workspace / f"{name}-folder").mkdir()
    moved = endpoint.call("file_move", source=f"{name}-there", destination=f"{name}-folder")
    assert moved.changed_paths == [f"{name}-there", f"{name}-folder/{name}-there"]


def test_a_folder_is_deleted_only_when_asked_with_its_content(endpoint: RunningEndpoint, name: str) -> None:
    (endpoint.workspace / name / "sub").mkdir(parents=True)
    assert not endpoint.call("file_delete", path=name).success
    assert endpoint.call("file_delete", path=name, recursive=True).success
    assert not (endpoint.workspace / name).exists()
    assert not endpoint.call("file_delete", path=".", recursive=True).success


def test_deleting_a_link_leaves_what_it_points_to(endpoint: RunningEndpoint, name: str, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (endpoint.workspace / name).symlink_to(tmp_path / "kept")
    assert endpoint.call("file_delete", path=name, recursive=True).success
    assert (tmp_path / "kept").exists()


OUTSIDE = Path("/var/tmp")


@pytest.mark.parametrize("tool", ["file_read", "file_write", "file_append", "file_edit", "file_delete", "file_list"])
@pytest.mark.parametrize(
    "way", ["/etc/passwd", "../../../../../../../../etc/passwd", "link/passwd", "link", "loop", "x/../.."]
)
def test_no_tool_leaves_the_workspace(endpoint: RunningEndpoint, tool: str, way: str) -> None:
    for link, target in (("link", "/etc"), ("loop", "loop")):
        if not (endpoint.workspace / link).is_symlink():
            (endpoint.workspace / link).symlink_to(target)
    if tool == "file_delete" and way in ("link", "loop"):
        way = f"{way}/passwd"
    before = Path("/etc/passwd").read_bytes()
    more = {
        "file_write": {"content": "x"},
        "file_append": {"content": "x"},
        "file_edit": {"old": "root", "new": "toor"},
    }
    result = endpoint.call(tool, path=way, **more.get(tool, {}))
    assert not result.success
    assert "root:" not in result.output
    assert Path("/etc/passwd").read_bytes() == before
    assert not (endpoint.workspace / "x").exists()


def test_moving_out_or_in_is_refused(endpoint: RunningEndpoint, name: str) -> None:
    (endpoint.workspace / name).write_text("x")
    assert not endpoint.call("file_move", source=name, destination=f"/var/tmp/{name}").success
    assert not endpoint.call("file_move", source="/etc/hostname", destination=name).success
    assert not (OUTSIDE / name).exists()


def test_a_pipe_in_the_workspace_hangs_nobody(endpoint: RunningEndpoint, name: str) -> None:
    os.mkfifo(endpoint.workspace / name)
    for tool, more in (("file_read", {}), ("file_write", {"content": "x"}), ("file_append", {"content": "x"})):
        assert not endpoint.call(tool, path=name, **more).success


def test_an_edit_does_not_make_a_file_larger_than_it_may_be(endpoint: RunningEndpoint, name: str) -> None:
    endpoint.call("file_write", path=name, content="a" * 100_000)
    edited = endpoint.call("file_edit", path=name, old="a", new="b" * 100_000, replace_all=True)
    assert not edited.success
    assert "too big to edit" in edited.output
    assert endpoint.call("file_read", path=name).output.startswith("aaa")
