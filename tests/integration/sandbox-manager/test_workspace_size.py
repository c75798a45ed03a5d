"""What a workspace is measured to hold: also what processes of its sandbox hold open after it was deleted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox_manager.infrastructure.runtimes.process import workspace_size
from sandbox_manager.infrastructure.runtimes.process.disk_watch import Watched, count_of, measure
from sandbox_manager.infrastructure.runtimes.process.processes import reference
from support.ordinary_user import as_ordinary_user, hand_to_ordinary_user
from support.sources import python_path

MIB = 1 << 20
WITHIN_S = 60.0
HOLD = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
for _ in range(3):
    if os.fork():
        print("begun", flush=True)
        time.sleep(60)
        os._exit(0)
held = os.open(sys.argv[1] + "/gone", os.O_RDWR | os.O_CREAT, 0o600)
os.unlink(sys.argv[1] + "/gone")
os.write(held, bytes(8 << 20))
"""
KEEP = 'print("has", flush=True)\ntime.sleep(60)\n'
UNDUMPABLE = "libc.prctl(4, 0, 0, 0, 0)\n"
MAPPED = "import mmap\nkept = mmap.mmap(held, 8 << 20)\nos.close(held)\n"
# Each process ends as soon as it has started the next.
HANDED_ON = """
print("has", flush=True)
until = time.monotonic() + 30
while time.monotonic() < until:
    time.sleep(0.001)
    if os.fork():
        libc._exit(0)
"""


@contextmanager
def holder(command: list[str], program: str, workspace: Path) -> Generator[int]:
    """The first of some processes, the last of which holds a deleted file of 8 MiB; all end with it."""
    inside = [sys.executable, "-I", "-c", program, str(workspace)]
    namespace = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]
    with subprocess.Popen([*command, *namespace, *inside], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        while first.stdout.readline() != b"has\n":
            assert first.poll() is None
        try:
            yield first.pid
        finally:
            first.kill()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "kept").write_bytes(bytes(4 * MIB))
    return folder


@pytest.mark.parametrize(
    "then",
    [
        pytest.param(KEEP, id="open"),
        pytest.param(HANDED_ON, id="handed-on"),
        pytest.param(
            MAPPED + KEEP,
            id="only-mapped",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="The kernel shows mapped deleted files to root alone."),
        ),
    ],
)
def test_a_deleted_file_counts_that_any_process_of_the_sandbox_holds(then: str, workspace: Path) -> None:
    with holder([], HOLD + then, workspace) as pid:
        root = reference(pid)
        assert root is not None
        program = measure(Watched("session", workspace, root))
        program.wait(WITHIN_S)
        size = count_of(program)
    assert size is not None
    assert (size.bytes // MIB, size.deleted_bytes // MIB, size.complete) == (12, 8, True)


@pytest.mark.parametrize("then", [KEEP, UNDUMPABLE + KEEP], ids=["open", "undumpable"])
def test_an_ordinary_users_manager_counts_what_an_undumpable_process_holds(then: str, workspace: Path) -> None:
    hand_to_ordinary_user(workspace)
    with holder(as_ordinary_user([]), HOLD + then, workspace) as pid:
        command = [sys.executable, "-S", "-P", "-m", workspace_size.__name__, str(workspace), str(pid), "10"]
        done = subprocess.run(
            as_ordinary_user(command),
            env={"PATH": os.environ["PATH"], "PYTHONPATH": python_path("sandbox-manager")},
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=True,
        )
    tree, *_, all_of_it = done.stdout.splitlines()
    assert int(tree.split()[0]) // MIB == 4, "what lies there is told before what is held open"
    assert int(all_of_it.split()[3]) // MIB == 8


def test_a_workspace_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    root = reference(os.getpid())
    assert root is not None
    program = measure(Watched("session", tmp_path / "none", root))
    program.wait(WITHIN_S)
    size = count_of(program)
    assert size is not None
    assert (size.bytes, size.files, size.complete) == (0, 0, True)
