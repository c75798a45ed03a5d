from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from backend_api.agent.tool import Done, ToolCall
from backend_api.models.demo.model import DemoModel
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import (
    FileMissingError,
    NoDesktopError,
    PathForbiddenError,
    SandboxLostError,
    SandboxUnavailableError,
    UploadTooLargeError,
)
from backend_api.sandboxes.ports import Upload
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.sandbox_tools import ToolApiSandboxTools
from backend_api.sandboxes.tool_api.screens import ToolApiScreens
from backend_api.sandboxes.tool_api.workspace import ToolApiWorkspace
from backend_api.sandboxes.tools import SandboxToolSource, manifest_tools
from support.endpoint import RunningEndpoint, await_true, processes_with
from support.figures import TIMES, assert_median
from support.same_sandbox import SameSandbox
from support.stage import Stage, worker_for, working


async def run(endpoints: Endpoints, sandbox: Sandbox, call_id: str, command: str) -> tuple[Done, str]:
    seen: list[str] = []

    async def on_output(text: str) -> None:
        seen.append(text)

    call = ToolCall(
        session_id="s",
        user_id="u",
        run_id="r",
        call_id=call_id,
        name="shell_exec",
        arguments={"command": command},
        on_output=on_output,
    )
    outcome = await ToolApiSandboxTools(endpoints).call(sandbox, call)
    return outcome, "".join(seen)


async def test_a_command_runs_and_its_output_is_seen_while_it_runs(endpoints: Endpoints, sandbox: Sandbox) -> None:
    outcome, seen = await run(endpoints, sandbox, "one", "echo hello; echo 世界")
    assert outcome.success
    assert "世界" in outcome.output
    assert "hello" in seen
    assert outcome.display is not None
    assert outcome.display["type"] == "shell"


async def test_a_refused_token_is_renewed_once(endpoints: Endpoints, sandbox: Sandbox, tokens: Any) -> None:
    tokens.stale = True
    outcome, _ = await run(endpoints, sandbox, "two", "echo again")
    assert outcome.success
    assert tokens.forgotten == 1


async def cancelled(endpoints: Endpoints, sandbox: Sandbox, number: int) -> float:
    """How long a call takes to end, with its processes, once it is cancelled."""
    running = asyncio.create_task(run(endpoints, sandbox, f"cancelled{number}", "echo up; sleep 54321"))
    await asyncio.to_thread(await_true, lambda: processes_with("sleep 54321"))
    started = time.perf_counter()
    running.cancel()
    await asyncio.wait({running}, timeout=30)
    took = time.perf_counter() - started
    assert running.cancelled()
    assert not processes_with("sleep 54321")
    return took


async def test_cancelling_a_call_leaves_no_process(endpoints: Endpoints, sandbox: Sandbox) -> None:
    await cancelled(endpoints, sandbox, 0)


@pytest.mark.quiet
async def test_a_call_is_cancelled_within_half_a_second(endpoints: Endpoints, sandbox: Sandbox) -> None:
    assert_median([await cancelled(endpoints, sandbox, number) for number in range(1, TIMES + 1)], below_s=0.5)


async def test_an_endpoint_that_is_a_link_to_another_socket_is_refused(
    endpoints: Endpoints, sandbox: Sandbox, tokens: Any, endpoint: RunningEndpoint, tmp_path: Path
) -> None:
    link = tmp_path / "door.sock"
    link.symlink_to(endpoint.socket)
    tokens.address = f"unix:{link}"
    with pytest.raises(SandboxUnavailableError):
        await run(endpoints, sandbox, "four", "true")
    tokens.address = f"unix:{tmp_path / 'missing'}"
    with pytest.raises(SandboxUnavailableError):
        await run(endpoints, sandbox, "five", "true")


async def test_an_endpoint_replaced_after_it_was_opened_is_not_followed(
    endpoints: Endpoints, sandbox: Sandbox, tokens: Any, tmp_path: Path
) -> None:
    path = tmp_path / "door.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    tokens.address = f"unix:{path}"
    with pytest.raises(SandboxUnavailableError):
        await run(endpoints, sandbox, "six", "true")
    assert tokens.forgotten == 1


async def test_a_call_that_broke_inside_may_have_happened(
    endpoints: Endpoints, sandbox: Sandbox, tokens: Any, tmp_path: Path
) -> None:
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        await reader.readuntil(b"\r\n\r\n")
        asked += 1
        writer.write(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\nConnection: close\r\n\r\noops")
        writer.close()

    path = tmp_path / "door.sock"
    async with await asyncio.start_unix_server(answer, path):
        tokens.address = f"unix:{path}"
        with pytest.raises(SandboxLostError):
            await run(endpoints, sandbox, "seven", "true")
    assert asked == 1


async def one(name: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[Upload]:
    yield Upload(name=name, chunks=chunks)


async def test_files_go_in_and_out(endpoints: Endpoints, sandbox: Sandbox, folder: Path) -> None:
    workspace = ToolApiWorkspace(endpoints)

    async def chunks() -> AsyncIterator[bytes]:
        yield b"first "
        yield "zweite ✓".encode()

    written = await workspace.upload(sandbox, "in", one('a "quoted" 名.txt', chunks()))
    assert len(written) == 1
    entries = await workspace.list(sandbox, "in")
    assert entries[0].path == written[0]
    assert (await workspace.preview(sandbox, written[0])).content == "first zweite ✓"
    async with workspace.download(sandbox, written[0]) as download:
        content = b"".join([chunk async for chunk in download.chunks])
        assert download.name == entries[0].name
        assert download.size == len(content)
    assert content.decode() == "first zweite ✓"
    (folder / "in" / "more").mkdir()
    async with workspace.download(sandbox, "in") as download:
        assert (await anext(aiter(download.chunks)))[:2] == b"PK"


async def test_faults_of_files_become_the_domains(endpoints: Endpoints, sandbox: Sandbox, folder: Path) -> None:
    workspace = ToolApiWorkspace(endpoints)
    with pytest.raises(FileMissingError):
        await workspace.preview(sandbox, "nowhere.txt")
    (folder / "escape").symlink_to("/etc")
    for path in ("../outside", "/etc/passwd", "escape/passwd"):
        with pytest.raises(PathForbiddenError):
            await workspace.preview(sandbox, path)
    (folder / "escape").unlink()

    async def large() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 10_000

    with pytest.raises(UploadTooLargeError):
        await workspace.upload(sandbox, "", one("large.bin", large()))
    assert not (folder / "large.bin").exists()


async def test_a_computer_without_desktop_has_no_screen(endpoints: Endpoints, sandbox: Sandbox) -> None:
    with pytest.raises(NoDesktopError):
        async with ToolApiScreens(endpoints).open(sandbox, control=False):
            pass


def tool_box(endpoints: Endpoints, sandbox: Sandbox) -> SandboxToolSource:
    return SandboxToolSource(manifest_tools(), SameSandbox(sandbox), ToolApiSandboxTools(endpoints))


async def stopped(stage: Stage) -> float:
    """How long a run takes to end once it is stopped in the middle of a command."""
    session = await stage.open_session()
    run_id = await stage.say(session, "run sleep 65432")
    await asyncio.to_thread(await_true, lambda: processes_with("sleep 65432"))
    started = time.perf_counter()
    await stage.stop(session)
    finished = await stage.until_finished(run_id, within_s=30)
    took = time.perf_counter() - started
    assert finished.status == "stopped"
    assert not processes_with("sleep 65432")
    return took


async def test_stopping_a_command_ends_the_run_and_its_processes(endpoints: Endpoints, sandbox: Sandbox) -> None:
    stage = Stage()
    async with working(worker_for(stage, DemoModel(delay_s=0), tool_box(endpoints, sandbox))):
        await stopped(stage)


@pytest.mark.quiet
async def test_a_run_is_stopped_in_a_command_within_half_a_second(endpoints: Endpoints, sandbox: Sandbox) -> None:
    stage = Stage()
    async with working(worker_for(stage, DemoModel(delay_s=0), tool_box(endpoints, sandbox))):
        assert_median([await stopped(stage) for _ in range(TIMES)], below_s=0.5)
