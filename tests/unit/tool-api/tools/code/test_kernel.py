"""A kernel whose bridge is no bridge: the agent's code runs beside it, and may have taken its place."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from support.endpoint import processes_with
from tool_api.tools.code.execution import Execution
from tool_api.tools.code.kernel import Kernel, KernelStartError
from tool_api.tools.code.kernels import Kernels
from tool_api.tools.code.kernelspecs import KernelSpec

SPEC = KernelSpec(name="x", argv=["x"], language="x")
ENVIRONMENT = {"PATH": os.environ["PATH"]}
READY = 'echo \'{"type": "ready"}\''


def impostor(folder: Path, script: str) -> Path:
    program = folder / "impostor"
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o755)
    return program


@asynccontextmanager
async def started(folder: Path, script: str) -> AsyncGenerator[Kernel]:
    kernel = await Kernel.start_program(impostor(folder, script), SPEC, folder, ENVIRONMENT, limit_s=5)
    try:
        yield kernel
    finally:
        await kernel.close()
    assert not kernel.is_alive


@pytest.mark.parametrize(
    "script",
    [
        "echo nonsense",
        "echo '[]'",
        'echo \'{"type": "finished"}\'',
        'echo \'{"type": "text", "text": 7}\'',
        "head -c 6000000 /dev/zero",
        "yes | tr -d '\\n'",
        "exit 0",
        'echo \'{"type": "shown", "table": {"columns": ["\' $(yes x | head -c 3000000) \'"]}}\'',
    ],
)
async def test_one_that_speaks_nonsense_ends_the_execution_and_itself(tmp_path: Path, script: str) -> None:
    async with started(tmp_path, f"{READY}; read start; read code; {script}; sleep 60") as kernel:
        execution = Execution("1")
        kernel.run_code(execution)
        assert await execution.wait(5) or script == "exit 0"
        assert not execution.success


async def test_one_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    program = impostor(tmp_path, "sleep 61.25 & sleep 61.25")
    begun = time.monotonic()
    with pytest.raises(KernelStartError, match="did not answer within"):
        await Kernel.start_program(program, SPEC, tmp_path, ENVIRONMENT, limit_s=0.2)
    assert time.monotonic() - begun < 3
    assert processes_with("sleep 61.25") == []


async def test_one_that_can_not_be_started_says_why(tmp_path: Path) -> None:
    with pytest.raises(KernelStartError, match="No such file"):
        await Kernel.start_program(tmp_path / "none", SPEC, tmp_path, ENVIRONMENT, limit_s=5)


async def test_what_it_says_once_the_execution_is_over_is_nobodys(tmp_path: Path) -> None:
    said = [{"type": "text", "text": "answer"}, {"type": "finished", "success": True}, {"type": "text", "text": "late"}]
    lines = "; ".join(f"echo '{json.dumps(one)}'" for one in said)
    async with started(tmp_path, f"{READY}; read start; read code; {lines}; sleep 60") as kernel:
        execution = Execution("1")
        kernel.run_code(execution)
        assert await execution.wait(5)
        assert [one.text for one in execution.said] == ["answer"]


async def test_one_that_ignores_every_signal_is_ended_and_what_holds_its_pipes_is_not_waited_for(
    tmp_path: Path,
) -> None:
    script = f"trap '' INT TERM; {READY}; read start; read code; (setsid sleep 5.25 &); sleep 62.25; sleep 62.25"
    async with started(tmp_path, script) as kernel:
        kernel.run_code(Execution("1"))
        begun = time.monotonic()
        assert not await kernel.interrupt(0.2)
        assert time.monotonic() - begun < 2


async def test_without_what_runs_kernels_there_are_none(tmp_path: Path) -> None:
    assert await Kernels(tmp_path, tmp_path / "none", tmp_path).specs() == []
