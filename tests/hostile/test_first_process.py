"""The first process of a sandbox, by which a manager knows its network, files and limits: no one inside changes it."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from support.intruder import Intruder, enter
from support.stack import Stack
from support.walls import FIRST_PROCESS

pytestmark = [pytest.mark.timeout(240), pytest.mark.asyncio(loop_scope="module")]

EPERM, EACCES = 1, 13
MOST_TASKS = 512


@pytest.fixture(scope="module", params=["stack", "ordinary_stack"])
def any_stack(request: pytest.FixtureRequest) -> Stack:
    """Run by root, with cgroups; and by an ordinary user, without."""
    found: Stack = request.getfixturevalue(request.param)
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def intruder(any_stack: Stack) -> AsyncGenerator[Intruder]:
    async with enter(any_stack, f"first-{secrets.token_hex(4)}") as one:
        yield one


def state_of(stack: Stack, sandbox_id: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(next(stack.data_dir.glob(f"**/live/{sandbox_id}/state.json")).read_text())
    return found


async def test_it_can_be_neither_traced_nor_read_nor_entered(intruder: Intruder) -> None:
    output = await intruder.python(FIRST_PROCESS)
    answers: dict[str, int] = json.loads(output.splitlines()[-2])

    assert {name: answer for name, answer in answers.items() if answer not in (EPERM, EACCES)} == {}


async def test_a_debugger_cannot_attach_to_it_and_still_can_to_what_one_starts(intruder: Intruder) -> None:
    output = await intruder.run("gdb -batch -p 1 -ex 'call (int) unshare(0x40000000)' 2>&1; echo done")
    assert "done" in output
    assert "$1 = 0" not in output
    traced = await intruder.run("sleep 30 & gdb -batch -p $! -ex 'info inferiors' 2>&1 | grep -c process; kill $!")
    assert traced.splitlines()[0].strip() != "0" or "not found" in traced


async def test_its_limits_hold_before_anything_of_the_agent_runs(any_stack: Stack, intruder: Intruder) -> None:
    first = state_of(any_stack, intruder.sandbox_id)["first"]["pid"]
    limits = Path(f"/proc/{first}/limits").read_text().splitlines()
    soft, hard = next(line.split()[2:4] for line in limits if line.startswith("Max processes"))

    assert int(soft) <= MOST_TASKS
    assert int(hard) <= MOST_TASKS
    # To lower those of the first process harms the sandbox alone; none can be raised.
    raised = await intruder.run("prlimit --pid 1 --nproc=4000:4000")
    assert "exit=0" not in raised


async def test_the_manager_keeps_to_the_network_namespace_of_the_start(any_stack: Stack, intruder: Intruder) -> None:
    state = state_of(any_stack, intruder.sandbox_id)
    await intruder.python(FIRST_PROCESS)

    assert os.stat(f"/proc/{state['first']['pid']}/ns/net").st_ino == state["network_namespace"]
