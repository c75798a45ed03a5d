"""Whether the kernel counts the tasks of a user namespace by themselves: told also to a user with hardly any."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from support import ordinary_user

_ROOT = Path(__file__).resolve().parents[3]
_PYTHON_PATH = ":".join(
    str(_ROOT / part) for part in ("tests", "sandbox-manager/src", "service-kit/src", "contracts/src")
)
_TELL = """
from sandbox_manager.infrastructure.runtimes.process.limits import limits_here
from support.sandboxes import inside
limits = limits_here(inside(), isolated=True)
print(limits.kind, limits.counts_by_namespace)
"""


def test_a_user_who_runs_nothing_but_the_manager_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordinary_user, "UID", 64_322)  # whom nothing else here runs as
    command = ordinary_user.as_ordinary_user([sys.executable, "-B", "-c", _TELL])
    since = tuple(int(part) for part in platform.release().split(".")[:2]) >= (5, 14)

    told = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": _PYTHON_PATH}, capture_output=True, text=True, timeout=60, check=True
    )

    kind, counts_by_namespace = told.stdout.split()
    assert counts_by_namespace == str(since and kind == "rlimit")
