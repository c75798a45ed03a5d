"""Files no honest program makes: the gateway lists what it can, says of the rest what is wrong, and waits for none."""

from __future__ import annotations

import asyncio
import fcntl
import io
import os
import signal
import socket
import tempfile
import zipfile
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from backend_api.kit.errors import ConflictError, DomainError
from backend_api.sandboxes.domain.errors import FileMissingError
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.workspace import ToolApiWorkspace
from support.endpoint import RunningEndpoint, running_endpoint
from support.endpoint_victim import FixedTokens
from support.gateway_sandboxes import a_sandbox

SOON_S = 5.0
COMPUTER = a_sandbox()


@pytest.fixture(scope="module")
def endpoint() -> Generator[RunningEndpoint]:
    # In memory a file may bear any time.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, running_endpoint(Path(folder)) as running:
        yield running


@pytest.fixture
async def workspace(endpoint: RunningEndpoint) -> AsyncGenerator[ToolApiWorkspace]:
    async with Endpoints(FixedTokens(f"unix:{endpoint.socket}", endpoint.keys.token())) as endpoints:
        yield ToolApiWorkspace(endpoints)


@pytest.fixture
def folder(endpoint: RunningEndpoint) -> Generator[Path]:
    with tempfile.TemporaryDirectory(dir=endpoint.workspace) as folder:
        yield Path(folder)


async def downloaded(workspace: ToolApiWorkspace, path: str) -> bytes:
    async with asyncio.timeout(SOON_S), workspace.download(COMPUTER, path) as download:
        return b"".join([chunk async for chunk in download.chunks])


async def refused(workspace: ToolApiWorkspace, path: str) -> list[DomainError]:
    """What download and preview say."""
    with pytest.raises(DomainError) as download:
        await downloaded(workspace, path)
    with pytest.raises(DomainError) as preview:
        async with asyncio.timeout(SOON_S):
            await workspace.preview(COMPUTER, path)
    return [download.value, preview.value]


async def test_neither_a_pipe_nor_a_socket_is_waited_for(workspace: ToolApiWorkspace, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
        for name in ("pipe", "link", "socket"):
            for error in await refused(workspace, f"{folder.name}/{name}"):
                assert isinstance(error, ConflictError)
                assert error.detail == f"{folder.name}/{name} is neither a file nor a folder."
    names = [entry.name for entry in await workspace.list(COMPUTER, folder.name)]
    assert names == ["link", "pipe", "socket"]
    assert zipfile.ZipFile(io.BytesIO(await downloaded(workspace, folder.name))).namelist() == []


@pytest.fixture
def deaf() -> Generator[None]:
    """To the signal that asks for a lease back, which ends a process."""
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGIO, before)


@pytest.mark.usefixtures("deaf")
async def test_a_file_that_a_program_holds_closed_is_not_waited_for(workspace: ToolApiWorkspace, folder: Path) -> None:
    file = folder / "leased"
    file.write_text("x")
    with file.open("r+") as held:
        fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        for error in await refused(workspace, f"{folder.name}/leased"):
            assert isinstance(error, ConflictError)


async def test_a_path_that_is_too_long_is_not_there(workspace: ToolApiWorkspace, folder: Path) -> None:
    for path in (f"{folder.name}/{'x' * 300}", "/".join(["x" * 200] * 10)):
        for error in await refused(workspace, path):
            assert isinstance(error, FileMissingError)


@pytest.mark.parametrize("changed", [2**62, -(2**62), 253402300800, -62135596801, 2**32, -1])
async def test_a_file_may_be_of_any_time(workspace: ToolApiWorkspace, folder: Path, changed: int) -> None:
    (folder / "odd").write_text("x")
    (folder / "usual").write_text("y")
    os.utime(folder / "odd", (changed, changed))
    odd, usual = await workspace.list(COMPUTER, folder.name)
    assert (odd.name, usual.name) == ("odd", "usual")
    assert odd.modified_at.timestamp() == min(max(changed, -62135596800), 253402300799)
    archive = zipfile.ZipFile(io.BytesIO(await downloaded(workspace, folder.name)))
    assert {name: archive.read(name) for name in archive.namelist()} == {"odd": b"x", "usual": b"y"}
