"""What processes have open that let nobody but root look into it, asked of a program that may be ended over it."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

import contracts
from sandbox_manager.infrastructure.runtimes.process import hidden_program

_END_S = 1.0
_PYTHON_PATH = ":".join(
    str(Path(file).parents[levels]) for file, levels in ((contracts.__file__, 1), (hidden_program.__file__, 4))
)


@dataclass(frozen=True, slots=True)
class HiddenFile:
    """A file without a name that a process has open."""

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


def hidden_files(pids: Sequence[int], patience_s: float) -> tuple[list[HiddenFile], list[int]]:
    """What they have open, and those of them of which not all was told in time."""
    if not pids:
        return [], []
    command = [sys.executable, "-S", "-P", "-m", hidden_program.__name__, *map(str, pids)]
    environment = {"PYTHONPATH": _PYTHON_PATH, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        program = Popen(command, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)
    except OSError:
        return [], [*pids]
    try:
        told = program.communicate(timeout=patience_s)[0]
    except TimeoutExpired as late:
        told = late.stdout or b""
        program.kill()
        # What is stuck in the kernel is not waited for.
        with contextlib.suppress(TimeoutExpired):
            program.wait(_END_S)
    assert program.stdout is not None
    program.stdout.close()
    return _parsed(told, pids)


def _parsed(told: bytes, pids: Sequence[int]) -> tuple[list[HiddenFile], list[int]]:
    found: list[HiddenFile] = []
    through = 0
    for line in told.splitlines(keepends=True):
        if not line.endswith(b"\n") or through == len(pids):
            break
        one = json.loads(line)
        if one is None:
            through += 1
        else:
            found.append(HiddenFile(pids[through], *one))
    return found, [*pids[through:]]
