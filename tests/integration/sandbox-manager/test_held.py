"""Holding a sandbox still for a look, by a real cgroup: it goes on whatever becomes of who looked."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.process import freezer as module
from sandbox_manager.infrastructure.runtimes.process.freezer import Freezer
from sandbox_manager.infrastructure.runtimes.process.processes import reference

_ROOT = Path("/sys/fs/cgroup")
_HOLD = """
import sys, time
from pathlib import Path
from sandbox_manager.infrastructure.runtimes.process.freezer import Freezer
from sandbox_manager.infrastructure.runtimes.process.processes import reference
with Freezer([Path(sys.argv[1])], reference(int(sys.argv[2])), Path(sys.argv[3])).held(5) as is_held:
    print(is_held, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def group() -> Generator[Path]:
    v1 = _ROOT / "freezer"
    folder = (v1 if v1.is_dir() else _ROOT) / f"held-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made here: {error}")
    if not any((folder / name).exists() for name in ("freezer.state", "cgroup.freeze")):
        folder.rmdir()
        pytest.skip("these cgroups hold nobody")
    yield folder
    until(lambda: not (folder / "cgroup.procs").read_text())
    folder.rmdir()


@pytest.fixture
def process(group: Path) -> Generator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "100"]) as one:
        (group / "cgroup.procs").write_text(str(one.pid))
        yield one
        with contextlib.suppress(EngineUnavailableError):
            Freezer([group], of(one)).thaw()
        one.kill()


def of(process: subprocess.Popen[bytes]) -> module.ProcessRef:
    root = reference(process.pid)
    assert root is not None
    return root


def until(condition: Callable[[], bool], within_s: float = 10) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.01)


def is_frozen(group: Path) -> bool:
    return Freezer([group], module.ProcessRef(1, 0)).frozen


def test_it_is_held_for_the_length_of_a_look(group: Path, process: subprocess.Popen[bytes], tmp_path: Path) -> None:
    freezer = Freezer([group], of(process), tmp_path / "hold")
    for _ in range(3):
        with freezer.held(5) as is_held:
            assert (is_held, is_frozen(group)) == (True, True)
        assert not is_frozen(group)
    with pytest.raises(RuntimeError, match="of the look"), freezer.held(5):
        raise RuntimeError("of the look")
    assert not freezer.frozen


def test_one_that_is_paused_stays_so(group: Path, process: subprocess.Popen[bytes], tmp_path: Path) -> None:
    freezer = Freezer([group], of(process), tmp_path / "hold")
    freezer.freeze()
    with freezer.held(5) as is_held:
        assert is_held
    assert freezer.frozen


@pytest.mark.parametrize("then", ["frozen", "held", "freeze"])
def test_what_a_look_left_held_that_was_killed_goes_on(
    then: str, group: Path, process: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    lock = tmp_path / "hold"
    command = [sys.executable, "-c", _HOLD, str(group), str(process.pid), str(lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as looker:
        assert looker.stdout is not None
        assert looker.stdout.readline() == b"True\n"
        looker.send_signal(signal.SIGKILL)
    assert is_frozen(group)

    freezer = Freezer([group], of(process), lock)
    if then == "held":
        with freezer.held(5) as is_held:
            assert is_held
    elif then == "freeze":
        freezer.freeze()
        assert freezer.frozen, "paused now, not by the look"
        freezer.thaw()
    assert not freezer.frozen
    assert not is_frozen(group)


def test_whoever_does_not_let_go_of_a_sandbox_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOCK_S", 0.2)
    root = reference(os.getpid())
    assert root is not None
    freezer = Freezer([tmp_path], root, tmp_path / "hold")
    (tmp_path / "cgroup.freeze").write_text("0")
    with (tmp_path / "hold").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not freezer.frozen
        for do in (freezer.freeze, freezer.thaw):
            with pytest.raises(EngineUnavailableError, match="kept the sandbox locked"):
                do()
