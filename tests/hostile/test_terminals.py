"""Pseudo-terminals are one machine's for all its sandboxes: none takes more than its share, nor needs one to work."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest

from support.intruder import enter
from support.runtime_labs import docker_lab
from support.sandboxes import endpoint_client, inside, new_identity, spec_of, why_no_docker
from support.stack import Stack

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(240)]

MOST = 64
# More than one may have, and far from all there are.
HOARD = f"""
import os, sys, time
taken = []
try:
    while len(taken) < {MOST + 200}:
        taken.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
except OSError:
    pass
print(len(taken), flush=True)
if os.fork() == 0:
    os.setsid()
    time.sleep(60)
os._exit(0)
"""
WITHOUT = "This shell has no terminal"


@pytest.fixture(params=["stack", "ordinary_stack"])
def process_stack(request: pytest.FixtureRequest) -> Stack:
    return request.getfixturevalue(request.param)


async def result_of(endpoint: httpx.AsyncClient, tool: str, **arguments: object) -> dict[str, Any]:
    call = {"call_id": f"{tool}-{os.urandom(4).hex()}", "arguments": arguments}
    answered = await endpoint.post(f"/tools/{tool}", json=call)
    assert answered.status_code == 200, answered.text
    return json.loads(answered.text.splitlines()[-1])["result"]


async def output_of(endpoint: httpx.AsyncClient, command: str, shell: str = "main", **more: object) -> str:
    return str((await result_of(endpoint, "shell_exec", command=command, shell=shell, **more))["output"])


async def test_a_sandbox_that_takes_all_terminals_it_can_leaves_others_theirs(process_stack: Stack) -> None:
    async with enter(process_stack, "terminals") as hostile, enter(process_stack, "beside") as other:
        taken = int((await hostile.python(HOARD)).split()[0])
        assert taken < MOST
        told = [await output_of(other.endpoint, "tty; echo hello", f"shell{number}") for number in range(8)]
    assert all(one.startswith("/dev/pts/") and one.endswith("hello\n") for one in told), told


async def test_a_shell_that_finds_no_terminal_works_without_one(process_stack: Stack) -> None:
    async with enter(process_stack, "no-terminals") as hostile:
        await hostile.python(HOARD)
        await assert_shells_work_without_terminals(hostile.endpoint)


@pytest.fixture
async def container() -> AsyncGenerator[tuple[httpx.AsyncClient, int]]:
    """The endpoint of one, and its first process."""
    if (reason := why_no_docker()) is not None:
        pytest.skip(reason)
    async with docker_lab(inside()) as lab:
        identity = new_identity()
        started = await lab.runtime.start_sandbox(spec_of(identity))
        name = f"{lab.stack}-{identity.sandbox_id}"
        ask = ["docker", "inspect", "-f", "{{.State.Pid}}", name]
        told = await asyncio.to_thread(subprocess.run, ask, capture_output=True, text=True, check=True)
        async with endpoint_client(started, identity) as endpoint:
            yield endpoint, int(told.stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make terminals scarce in a container")
async def test_a_shell_of_a_container_that_finds_no_terminal_works_without_one(
    container: tuple[httpx.AsyncClient, int],
) -> None:
    # Few in this container stand for few on the machine, whose others stay as they are.
    endpoint, pid = container
    scarce = ["mount", "-i", "-n", "-t", "devpts", "-o", "remount,nosuid,noexec,mode=620,ptmxmode=666,gid=5,max=1"]
    await asyncio.to_thread(
        subprocess.run, ["nsenter", f"--target={pid}", "--mount", *scarce, "devpts", "/dev/pts"], check=True
    )
    await output_of(endpoint, "true")
    await assert_shells_work_without_terminals(endpoint)


async def assert_shells_work_without_terminals(endpoint: httpx.AsyncClient) -> None:
    """As the agent finds them: state, errors, input, and commands that are ended."""
    told = await output_of(endpoint, "cd /tmp; export HERE=yes; f() { echo from-f >&2; }; tty", "bare")
    assert told.startswith("not a tty\n"), told
    assert WITHOUT in told
    assert (await output_of(endpoint, "pwd; echo $HERE; f", "bare")).startswith("/tmp\nyes\nfrom-f\n")
    assert (await output_of(endpoint, "echo to-the-file > /dev/stderr", "bare")).startswith("to-the-file\n")

    reading = await output_of(endpoint, "read line; echo got $line", "bare", timeout_s=1, keep_running=True)
    assert "still running" in reading
    assert "got typed" in str((await result_of(endpoint, "shell_write", shell="bare", text="typed"))["output"])

    late = await output_of(endpoint, "sleep 600; echo never", "bare", timeout_s=1)
    assert "ran longer than 1 s" in late
    assert "never" not in late
    await output_of(endpoint, "sleep 600", "bare", timeout_s=1, keep_running=True)
    await result_of(endpoint, "shell_kill", shell="bare")
    assert (await output_of(endpoint, "echo $HERE; pwd", "bare")).startswith("yes\n/tmp\n")
    assert "[exit code 3]" in await output_of(endpoint, "exit 3", "bare")
    assert (await output_of(endpoint, "echo again", "bare")).startswith("again\n")
