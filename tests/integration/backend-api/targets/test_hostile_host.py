"""A remote host that answers what it likes: its names, its silence and its floods cost nobody else anything."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import asyncssh
import pytest

from backend_api.agent.tool import Done
from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.errors import SandboxLostError
from backend_api.targets.domain import HostKey, SshHost, Target, TargetId
from backend_api.targets.ssh import connections, hosts
from backend_api.targets.ssh.connections import HostConnections
from backend_api.targets.ssh.keys import AsyncsshKeys
from support.remote_hosts import ANY, Host

Names = Callable[[], AsyncIterator[bytes]]


@dataclass(slots=True)
class Hostile:
    """What it answers to a listing, and how often it was asked for more."""

    host: Host
    names: Names | None = None
    sent: int = 0
    silent: asyncio.Event = field(default_factory=asyncio.Event)

    async def list(self, **arguments: Any) -> Done:
        return await self.host.call("file_list", path=".", **arguments)


async def of(*names: bytes) -> AsyncIterator[bytes]:
    for name in names:
        yield name


async def endless(name: bytes) -> AsyncIterator[bytes]:
    while True:
        yield name


@pytest.fixture
async def hostile(tmp_path: Path) -> AsyncGenerator[Hostile]:
    pair = AsyncsshKeys().generate("tests")
    own = cast("asyncssh.SSHKey", cast("Any", asyncssh).generate_private_key("ssh-ed25519"))
    made = list[Hostile]()

    class Server(asyncssh.SSHServer):
        def begin_auth(self, username: str) -> bool:
            return False

    class Files(asyncssh.SFTPServer):
        def __init__(self, channel: Any) -> None:
            cast("Any", super()).__init__(channel, chroot=str(tmp_path).encode())

        async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
            names = made[0].names
            assert names is not None
            async for name in names():
                made[0].sent += 1
                yield asyncssh.SFTPName(name, attrs=asyncssh.SFTPAttrs(mtime=2**32 - 1, size=2**64 - 1))

        async def close(self, file_obj: object) -> None:
            if made[0].silent.is_set():
                await asyncio.Event().wait()
            super().close(file_obj)

    listening = await asyncssh.listen(
        "127.0.0.1", 0, server_factory=Server, server_host_keys=[own], sftp_factory=Files, process_factory=None
    )
    algorithm, data = own.export_public_key().decode().split()[:2]
    now = datetime.now(UTC)
    ssh = SshHost(
        host="127.0.0.1",
        port=listening.get_port(),
        username="tester",
        folder="/",
        public_key=pair.public,
        host_key=HostKey(algorithm, data),
    )
    target = Target(id=TargetId("host_1"), user_id=UserId("u"), name="Bad", ssh=ssh, created_at=now, updated_at=now)
    async with listening, HostConnections(ANY, keepalive_s=0) as open_ones:
        made.append(Hostile(Host(None, pair, target, open_ones)))  # pyright: ignore[reportArgumentType] -- no sshd
        yield made[0]


async def test_names_that_no_file_has_are_left_out_and_others_stay_on_their_line(hostile: Hostile) -> None:
    hostile.names = lambda: of(
        b".",
        b"..",
        b"",
        b"../../etc/passwd",
        b"/etc/shadow",
        b"a/b",
        b"x" * 1_021,
        b"good.txt",
        b"two\nlines\x1b[31m\r",
        "turned\u202etxt".encode(),
        b"\xff\xfe.bin",
        "中文.txt".encode(),
    )
    done = await hostile.list()
    assert done.success
    assert done.output.splitlines() == [
        "good.txt",
        "turned\\u202etxt",
        "two\\nlines\\x1b[31m\\r",
        "中文.txt",
        "��.bin",
    ]
    shown = await hosts.HostWorkspace(hostile.host.connections).list(hostile.host.sandbox, ".")
    assert {one.path for one in shown} == {one.name for one in shown}
    assert len(shown) == 5


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(b".", marks=pytest.mark.thorough),
        pytest.param(b"", marks=pytest.mark.thorough),
        b"../x",
        pytest.param(b"same", marks=pytest.mark.thorough),
        b"x" * 1_000,
    ],
    ids=["dot", "empty", "up", "same", "long"],
)
async def test_names_without_end_are_cut(hostile: Hostile, name: bytes) -> None:
    hostile.names = lambda: endless(name)
    async with asyncio.timeout(20):
        done = await hostile.list()
    assert done.success
    assert "[more was left out]" in done.output
    assert len(done.output) < connections.MAX_PACKET_BYTES * 4
    assert hostile.sent <= 5_300, "it is not asked for more"
    hostile.names = lambda: of(b"good.txt")
    assert (await hostile.list()).output == "good.txt", "the connection goes on"


async def test_a_packet_of_nothing_but_names_is_refused_before_it_is_taken_apart(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server's own bound: it sends all of them at once.
    monkeypatch.setattr("asyncssh.sftp._MAX_READDIR_NAMES", 1_000)
    hostile.names = lambda: endless(b"x" * 1_000)
    async with asyncio.timeout(60):
        with pytest.raises(SandboxLostError):
            await hostile.list()
    assert hostile.sent == 1_000
    hostile.names = lambda: of(b"good.txt")
    assert (await hostile.list()).output == "good.txt", "the next call connects anew"


@pytest.mark.parametrize("is_silent", [False, True], ids=["in-the-listing", "also-at-its-end"])
async def test_a_host_that_falls_silent_in_a_listing_is_left_in_time(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch, is_silent: bool
) -> None:
    async def hanging() -> AsyncIterator[bytes]:
        yield b"a"
        await asyncio.Event().wait()

    hostile.names = hanging
    if is_silent:
        hostile.silent.set()
    monkeypatch.setattr(hosts, "FILE_S", 0.3)
    async with asyncio.timeout(60):
        done = await hostile.list()
    assert not done.success
    assert "did not finish" in done.output
    files = hosts.HostWorkspace(hostile.host.connections, within_s=0.3)
    await hostile.host.connect()
    async with asyncio.timeout(60):
        with pytest.raises(SandboxLostError):
            await files.list(hostile.host.sandbox, ".")


async def test_a_call_that_is_stopped_does_not_wait_for_a_silent_host(hostile: Hostile) -> None:
    asked = asyncio.Event()

    async def hanging() -> AsyncIterator[bytes]:
        asked.set()
        await asyncio.Event().wait()
        yield b""

    hostile.names = hanging
    hostile.silent.set()
    call = asyncio.create_task(hostile.list())
    async with asyncio.timeout(60):
        await asked.wait()
    began = time.monotonic()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert time.monotonic() - began < 5
