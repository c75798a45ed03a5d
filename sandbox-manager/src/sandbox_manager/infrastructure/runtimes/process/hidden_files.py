"""Open files of undumpable processes, whose descriptors only root may read, by a probe program that can be killed."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

import service_kit
from sandbox_manager.infrastructure.runtimes.process import hidden_program
from sandbox_manager.infrastructure.runtimes.process.processes import stat_fields

_END_S = 1.0
_LOOK_S = 0.05
_BEGUN = b"null"
STARVED = 4
"""So many times its timeout the program gets where others keep it from a processor."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PYTHON_PATH = ":".join(
    str(Path(file).parents[levels]) for file, levels in ((service_kit.__file__, 1), (hidden_program.__file__, 4))
)


class ProbeError(Exception):
    """A probe of the manager failed by a fault of its own or of the machine, not of a sandbox."""


@dataclass(frozen=True, slots=True)
class HiddenFile:
    """An unlinked file that a process has open."""

    pid: int
    device: int
    inode: int
    bytes: int


def hides(folder: str) -> bool:
    """Whether this folder of descriptors is closed to us."""
    try:
        os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def info_folder(folder: str) -> str:
    """The one beside it that who may trace the process may read: of each descriptor its mount, but not its size."""
    return f"{os.path.dirname(folder)}/fdinfo"


def hidden_files(
    pids: Sequence[int], timeout_s: float, *, starved: int = STARVED
) -> tuple[list[HiddenFile], list[int]]:
    """What they have open, and those of them of which not all was told in time: `timeout_s`, and while the program
    only waits for a processor up to `starved` times that.

    Raises:
        ProbeError: the program could not be started, or did not come to look at any.
    """
    if not pids:
        return [], []
    command = [sys.executable, "-S", "-P", "-m", hidden_program.__name__, *map(str, pids)]
    environment = {"PYTHONPATH": _PYTHON_PATH, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        program = Popen(command, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)
    except OSError as error:
        raise ProbeError(
            f"The program that inspects unreadable processes could not be started: {error.strerror}."
        ) from error
    output, is_late = _output_of(program, timeout_s, timeout_s * starved)
    assert program.stdout is not None
    program.stdout.close()
    begun, _, answers = output.partition(b"\n")
    if begun != _BEGUN and is_late:
        raise ProbeError("The program that inspects unreadable processes did not start.")
    found, unanswered = _parsed(answers, pids)
    return found, unanswered if is_late else []


def _output_of(program: Popen[bytes], timeout_s: float, most_s: float) -> tuple[bytes, bool]:
    """Its output until it ends, and whether it had all its time: time in which it only waits for a processor does not
    count against the timeout, up to a bound."""
    waited_s = 0.0
    until = time.monotonic() + most_s
    while True:
        began = time.monotonic()
        try:
            return program.communicate(timeout=_LOOK_S)[0], True
        except TimeoutExpired as late:
            if not _is_starved(program.pid, timeout_s):
                waited_s += time.monotonic() - began
            if waited_s < timeout_s and time.monotonic() < until:
                continue
            program.kill()
            # What is stuck in the kernel is not waited for.
            with contextlib.suppress(TimeoutExpired):
                program.wait(_END_S)
            return late.stdout or b"", waited_s >= timeout_s


def _is_starved(pid: int, timeout_s: float) -> bool:
    """Whether it would go on if it got a processor, and had little of one yet."""
    try:
        fields = stat_fields(pid)
        return fields[0] == b"R" and int(fields[11]) + int(fields[12]) < timeout_s * _TICKS_PER_S
    except (OSError, IndexError):
        return False


def _parsed(output: bytes, pids: Sequence[int]) -> tuple[list[HiddenFile], list[int]]:
    found: list[HiddenFile] = []
    through = 0
    for line in output.splitlines(keepends=True):
        if not line.endswith(b"\n") or through == len(pids):
            break
        one = json.loads(line)
        if one is None:
            through += 1
        else:
            found.append(HiddenFile(pids[through], *one))
    return found, [*pids[through:]]
