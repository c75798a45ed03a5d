"""A process in a sandbox that tries its walls: the kernel, the tool API beside it, and what its files do at a start."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from support.intruder import Intruder, enter
from support.runtime_labs import docker_lab
from support.sandboxes import inside, new_identity, run_inside, spec_of, why_no_docker
from support.stack import Stack
from support.walls import CHROME, DESCRIPTORS, KERNEL, NAMESPACES, TOOL_API

pytestmark = [pytest.mark.timeout(240), pytest.mark.asyncio(loop_scope="module")]

Run = Callable[[str], Awaitable[str]]
EPERM, EACCES, SIGSYS = 1, 13, 31
CAP_NET_BIND_SERVICE = 1 << 10


@dataclass(frozen=True, slots=True)
class Runtime:
    """Where sandboxes run: `computer(session)` is a sandbox on that session's workspace, which stays behind."""

    computer: Callable[[str], AbstractAsyncContextManager[Run]]


def of_stack(stack: Stack) -> Runtime:
    @asynccontextmanager
    async def computer(session_id: str) -> AsyncGenerator[Run]:
        async with enter(stack, session_id, keep_workspace=True) as intruder:
            yield intruder.run

    return Runtime(computer)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["stack", "ordinary_stack", "docker"])
async def runtime(request: pytest.FixtureRequest) -> AsyncGenerator[Runtime]:
    """Processes of a stack of root's, of an ordinary user's stack, and containers."""
    if request.param != "docker":
        yield of_stack(request.getfixturevalue(request.param))
        return
    if (reason := why_no_docker()) is not None:
        pytest.skip(reason)
    async with docker_lab(inside(desktop=True, memory_mib=2048)) as lab:

        @asynccontextmanager
        async def computer(session_id: str) -> AsyncGenerator[Run]:
            identity = new_identity(session_id)
            started = await lab.runtime.start_sandbox(spec_of(identity))
            try:
                yield lambda command: run_inside(started, identity, command)
            finally:
                await lab.runtime.remove(identity, keep_workspace=True)

        yield Runtime(computer)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def run(runtime: Runtime) -> AsyncGenerator[Run]:
    """In one sandbox of each: what is tried at its walls is refused, and changes nothing."""
    async with runtime.computer(f"walls-{secrets.token_hex(4)}") as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def walled(stack: Stack) -> AsyncGenerator[Intruder]:
    """In one that is looked at from outside."""
    async with enter(stack, f"walls-{secrets.token_hex(4)}") as intruder:
        yield intruder


async def told(run: Run, program: str) -> dict[str, Any]:
    """What a program that runs inside reports."""
    output = await run(f"cat > /tmp/program.py <<'PROGRAM'\n{program}\nPROGRAM\npython3 -I /tmp/program.py")
    assert "exit=0" in output, output
    return dict(json.loads(output.splitlines()[-2]))


async def test_the_kernel_is_not_asked_for_what_no_agent_needs(run: Run) -> None:
    answers = await told(run, KERNEL)

    refused = {name: answer for name, answer in answers["refused"].items() if answer != EPERM}
    assert refused == {}
    assert answers["other_conventions"] == dict.fromkeys(answers["other_conventions"], SIGSYS)
    assert answers["too_new"] == "ENOSYS"
    assert answers["needed"] == dict.fromkeys(answers["needed"], 0)


async def test_a_namespace_of_ones_own_opens_no_packet_filter_and_no_raw_device(run: Run) -> None:
    answers = await told(run, NAMESPACES)

    assert answers.pop("namespace") == 0
    assert answers.pop("every_capability") is True
    assert answers == dict.fromkeys(answers, EPERM)


async def test_the_tool_api_can_be_neither_traced_nor_read_nor_robbed_of_what_it_has_open(run: Run) -> None:
    answers = await told(run, TOOL_API)

    assert answers.pop("own_child_traced") == 0
    refused = {name: answer for name, answer in answers.items() if answer not in (EPERM, EACCES)}
    assert refused == {}


async def test_nothing_inside_holds_a_file_of_the_host(run: Run) -> None:
    assert (await told(run, DESCRIPTORS))["files_from_elsewhere"] == []


async def test_what_the_tool_api_holds_open_is_no_file_of_the_host(stack: Stack, walled: Intruder) -> None:
    state = json.loads((live_folder(stack, walled.sandbox_id) / "state.json").read_text())
    pids = [int(one) for one in os.listdir("/proc") if one.isdigit() and is_below(int(one), state["first"]["pid"])]
    held = {pid: held_open(pid) for pid in pids}

    assert any(held.values())
    assert {pid: [one for one in files if str(stack.data_dir) in one] for pid, files in held.items()} == {
        pid: [] for pid in pids
    }


async def test_what_parses_a_sandboxs_packets_outside_is_shut_in_itself(stack: Stack, walled: Intruder) -> None:
    state = json.loads((live_folder(stack, walled.sandbox_id) / "state.json").read_text())
    if state["network"] is None:
        pytest.skip("no networks for process sandboxes here")
    process = Path("/proc", str(state["network"]["pid"]))
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line)
    seen = set(os.listdir(process / "root")) if os.geteuid() == 0 else set[str]()

    assert (status["Seccomp"].strip(), status["NoNewPrivs"].strip()) == ("2", "1")
    assert int(status["CapEff"], 16) in (0, CAP_NET_BIND_SERVICE)
    assert seen <= {"etc", "run"}


SHADOW = "open('/workspace/was-imported', 'a').write(__name__ + chr(10))"
PACKAGES = ("contracts", "service_kit", "tool_api")
SHADOWED = ("uvicorn", "uvloop", *(f"{one}/__init__" for one in PACKAGES), "sitecustomize", "usercustomize", "ctypes")


@pytest.mark.parametrize(
    "runtime",
    [*(pytest.param(name, marks=pytest.mark.thorough) for name in ("stack", "ordinary_stack")), "docker"],
    indirect=True,
)
async def test_files_of_the_agent_are_no_modules_of_the_tool_api(runtime: Runtime) -> None:
    session_id = f"walls-{secrets.token_hex(4)}"
    async with runtime.computer(session_id) as run:
        folders = " ".join(f"/workspace/{package}" for package in PACKAGES)
        files = " ".join(f"/workspace/{name}.py" for name in SHADOWED)
        assert "exit=0" in await run(f'mkdir -p {folders}; for one in {files}; do echo "{SHADOW}" > $one; done')

    async with runtime.computer(session_id) as run:
        assert "was-imported" not in await run("ls /workspace")
        # What the agent itself starts there is the agent's, as on any computer.
        assert "uvicorn" in await run(
            "cd /workspace && echo 'import uvicorn' > main.py; python3 main.py; cat was-imported"
        )
        assert "PYTHON" not in await run("env")
        assert "/workspace\n" in await run("pwd")


async def test_the_tool_api_starts_where_the_agent_cannot_write(stack: Stack, walled: Intruder) -> None:
    state = json.loads((live_folder(stack, walled.sandbox_id) / "state.json").read_text())
    pids = [int(one) for one in os.listdir("/proc") if one.isdigit() and is_below(int(one), state["first"]["pid"])]
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in pids}
    tool_apis = [pid for pid, command in commands.items() if b"tool_api" in command and b"bwrap" not in command]

    assert tool_apis
    assert {os.readlink(f"/proc/{pid}/cwd") for pid in tool_apis} == {"/"}
    assert "exit=1" in await walled.run("touch /mine")


async def test_chrome_keeps_its_own_sandbox_behind_the_filter(run: Run) -> None:
    answers = await told(run, CHROME)

    assert answers["renderers"] > 0
    assert answers["without_sandbox"] == []


def live_folder(stack: Stack, sandbox_id: str) -> Path:
    return next(stack.data_dir.glob(f"**/live/{sandbox_id}"))


def held_open(pid: int) -> list[str]:
    """What its descriptors are; of a process that ends meanwhile, or a descriptor it closes, nothing."""
    with suppress(FileNotFoundError, ProcessLookupError):
        numbers = os.listdir(f"/proc/{pid}/fd")
        return [name for number in numbers if (name := readlink(f"/proc/{pid}/fd/{number}"))]
    return []


def readlink(path: str) -> str | None:
    try:
        return os.readlink(path)
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_below(pid: int, root: int) -> bool:
    """Whether it is the process, or descends from it."""
    while pid > 1:
        if pid == root:
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False
