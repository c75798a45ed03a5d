"""The program that looks into closed processes: waiting for a processor is not being stuck."""

from __future__ import annotations

import os
import subprocess
import sys
from subprocess import PIPE, Popen

import pytest

from sandbox_manager.infrastructure.runtimes.process import hidden_files

BEGIN = "print('null', flush=True)\n"
SPIN = BEGIN + "while True: pass"
STARVED = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n" + SPIN
STUCK = BEGIN + "import time; time.sleep(60)"


@pytest.mark.parametrize(("program", "is_stuck"), [(STARVED, False), (STUCK, True)], ids=["starved", "stuck"])
def test_only_one_that_does_not_go_on_by_its_own_doing_is_late(
    monkeypatch: pytest.MonkeyPatch, program: str, *, is_stuck: bool
) -> None:
    class Replaced(Popen[bytes]):
        def __init__(self, _command: list[str], **options: object) -> None:
            pinned = ["taskset", "-c", str(cpu), sys.executable, "-S", "-c"]
            super().__init__([*pinned, program], stdout=PIPE)
            begun.append(self)

    begun: list[Popen[bytes]] = []
    cpu = min(os.sched_getaffinity(0))
    pinned = ["taskset", "-c", str(cpu), sys.executable, "-S", "-c", "while True: pass"]
    monkeypatch.setattr(hidden_files, "Popen", Replaced)
    with subprocess.Popen(pinned) as neighbour:
        try:
            found, untold = hidden_files.hidden_files([os.getpid()], 1.0)
        finally:
            neighbour.kill()
    for each in begun:
        # It needs a processor even to end.
        each.wait(30)
    assert found == []
    assert untold == ([os.getpid()] if is_stuck else [])


@pytest.mark.parametrize("fault", ["no process to be had", "it ends at once", "it never begins"])
def test_a_program_that_could_not_look_says_nothing_of_whom_it_was_to_look_at(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Faulty(Popen[bytes]):
        def __init__(self, _command: list[str], **options: object) -> None:
            if fault == "no process to be had":
                raise BlockingIOError(11, "Resource temporarily unavailable")
            program = "raise SystemExit(1)" if fault == "it ends at once" else "import time; time.sleep(60)"
            super().__init__([sys.executable, "-S", "-c", program], stdout=PIPE)

    monkeypatch.setattr(hidden_files, "Popen", Faulty)
    with pytest.raises(hidden_files.ProbeError):
        hidden_files.hidden_files([os.getpid()], 0.3)


def test_what_a_process_that_hides_nothing_has_open_is_told() -> None:
    assert hidden_files.hidden_files([os.getpid()], 10.0)[1] == []
