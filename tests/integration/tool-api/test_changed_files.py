"""What commands and code wrote is told with their results."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.endpoint import RunningEndpoint


@pytest.fixture
def folder(endpoint: RunningEndpoint) -> Path:
    folder = endpoint.workspace / f"c{random.getrandbits(40)}"
    folder.mkdir()
    endpoint.call("shell_exec", command="true")
    return folder


def test_files_that_a_command_wrote_moved_and_removed_are_told(endpoint: RunningEndpoint, folder: Path) -> None:
    at = folder.name
    written = endpoint.call("shell_exec", command=f"cd {folder}; echo x > a.csv; mkdir b; echo y > b/c.txt; cd -")
    assert written.changed_paths == [f"{at}/a.csv", f"{at}/b/c.txt"]
    looked = endpoint.call("shell_exec", command=f"cat {folder}/a.csv; ls {folder}")
    assert looked.changed_paths == []
    moved = endpoint.call("shell_exec", command=f"mv {folder}/a.csv {folder}/d.csv; rm -r {folder}/b; false")
    assert (moved.success, moved.changed_paths) == (False, [f"{at}/a.csv", f"{at}/b", f"{at}/d.csv"])
    assert moved.removed_paths == [f"{at}/a.csv", f"{at}/b"]


def test_what_a_background_command_wrote_is_told_with_its_end(endpoint: RunningEndpoint, folder: Path) -> None:
    started = endpoint.call("background_run", command=f"sleep 0.5; echo x > {folder}/late.txt")
    shell = getattr(started.display, "shell", "")
    ended = endpoint.call("check_background", background_id=shell, wait_s=10)
    assert ended.changed_paths == [f"{folder.name}/late.txt"]


def test_what_is_told_already_is_not_told_again(endpoint: RunningEndpoint, folder: Path) -> None:
    at = folder.name
    written = endpoint.call("file_write", path=f"{at}/a.txt", content="x")
    assert written.changed_paths == [f"{at}/a.txt"]
    with endpoint.client() as client:
        sent = client.post("/files", params={"subdir": at}, files={"files": ("mine.txt", b"x")})
        assert sent.status_code == 201, sent.text
    assert endpoint.call("file_delete", path=f"{at}/a.txt").removed_paths == [f"{at}/a.txt"]
    assert endpoint.call("shell_exec", command="true").changed_paths == []
