"""Kernels end with what runs them, and there are never more than a few."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from support.endpoint import ROOT, await_true, processes_with, running_endpoint

KERNEL_PYTHON = str(ROOT / ".venv-kernels" / "bin" / "python")


def test_kernels_end_with_the_tool_api_also_where_it_is_killed(tmp_path: Path) -> None:
    for name, number in (("ended", signal.SIGTERM), ("killed", signal.SIGKILL)):
        folder = tmp_path / name
        folder.mkdir()
        marker = f"kernel-of-{os.getpid()}-{name}"
        with running_endpoint(folder, SANDBOX_KERNEL_PYTHON=KERNEL_PYTHON) as endpoint:
            child = f"[sys.executable, '-c', 'input()', '{marker}'], stdin=subprocess.PIPE"
            code = f"import subprocess, sys\nsubprocess.Popen({child})"
            assert endpoint.call("code_run", code=code).success
            assert len(processes_with(marker)) == 1
            endpoint.process.send_signal(number)
            endpoint.process.wait(10)
            await_true(lambda: processes_with(str(endpoint.workspace)) == [], 5)
            await_true(lambda mark=marker: processes_with(mark) == [], 5)


def test_commands_that_are_named_are_the_languages_that_run_and_contexts_are_few(tmp_path: Path) -> None:
    with running_endpoint(tmp_path, SANDBOX_KERNEL_PYTHON=KERNEL_PYTHON, ALLOWED_COMMANDS="ls") as endpoint:
        refused = endpoint.call("code_run", code="1")
        assert not refused.success
        assert "not allowed" in refused.output
        assert "Languages: none." in endpoint.call("code_contexts").output
