"""Shells and files of a remote host, over SSH to a real `sshd`."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import asyncssh
import pytest

from backend_api.previews.domain.errors import NothingListensError
from backend_api.previews.ports import AppRequest
from backend_api.previews.tool_api.port_tunnels import PortTunnels
from backend_api.previews.tool_api.sandbox_apps import ToolApiSandboxApps
from backend_api.sandboxes.domain.errors import SandboxLostError
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.targets.domain import HostKey, SshHost
from backend_api.targets.errors import HostKeyChangedError, HostUnreachableError, HostUnusableError, SignInRefusedError
from backend_api.targets.ssh.connecting import open_socket, sign_in
from backend_api.targets.ssh.hosts import HostTools, SshHosts
from backend_api.targets.ssh.keys import AsyncsshKeys
from backend_api.targets.ssh.trial import SshTrials
from support.gateway import NoEndpoints
from support.relay import relay_to
from support.remote_hosts import ANY, SESSION, Host
from support.servers import free_port

STOPPED_S = 1.0
HEADERS = [(b"host", b"localhost")]
NO_TARGETS, NO_BOX = cast("Any", None), cast("Any", None)
"""Ports are reached over the connection alone."""


@asynccontextmanager
async def serving(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], port: int = 0
) -> AsyncGenerator[int]:
    """A server on loopback, and its port. What it was asked is over with the block."""
    asked = list[asyncio.Task[None]]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handle(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(asyncio.create_task(answer(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", port)
    async with server:
        yield server.sockets[0].getsockname()[1]
    await asyncio.gather(*asked, return_exceptions=True)


def alive(marker: str) -> list[int]:
    """Processes that have this among their arguments."""
    found = list[int]()
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                arguments = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in arguments.split(b"\0"):
                found.append(int(folder.name))
    return found


async def test_folder_and_variables_stay_from_command_to_command(host: Host) -> None:
    work = host.sshd.home / "work"
    made = await host.call("shell_exec", command="mkdir -p a/b && cd a/b && N=7 && export M=8")
    assert (made.success, made.output) == (True, "[no output]")
    told = await host.call("shell_exec", command='pwd; echo "$N $(printenv M)"; echo no >&2; (exit 3)')
    assert told.output == f"{work}/a/b\n7 8\nno\n[the command exited with code 3]"
    assert not told.success
    assert told.display is not None
    assert told.display["cwd"] == f"{work}/a/b"
    other = await host.call("shell_exec", command="pwd", shell="other")
    assert other.output.strip() == str(work)
    left = await host.call("shell_exec", command="exit 4")
    assert left.output == "[the command exited with code 4]"
    assert (await host.call("shell_exec", command="pwd")).output.strip() == f"{work}/a/b"


async def test_stopping_a_call_ends_its_process_group_within_a_second(host: Host) -> None:
    marker = f"stopped-{os.getpid()}"
    await host.connect()
    shown = asyncio.Event()
    call = host.a_call("shell_exec", command=f"python3 -c 'import time; time.sleep(600)' {marker} & echo on; wait")

    async def show(text: str) -> None:
        if "on" in text:
            shown.set()

    call.on_output = show
    running = asyncio.create_task(HostTools(host.connections).call(host.sandbox, call))
    async with asyncio.timeout(10):
        await shown.wait()
        while not alive(marker):
            await asyncio.sleep(0.02)
    began = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert alive(marker) == []
    assert time.monotonic() - began < STOPPED_S
    again = await host.call("shell_exec", command="echo back")
    assert again.output == "back\n"


@pytest.mark.thorough
async def test_a_command_that_ignores_the_request_to_end_is_killed(host: Host) -> None:
    marker = f"stubborn-{os.getpid()}"
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
    ended = await host.call("shell_exec", command=f'python3 -c "{code}" {marker}', timeout_s=1)
    assert "ran longer than 1 s" in ended.output
    assert not ended.success
    assert alive(marker) == []


async def test_a_command_is_left_running_fed_looked_at_and_ended(host: Host) -> None:
    begun = await host.call(
        "shell_exec", command="read a; echo got $a; read b; sleep 600", timeout_s=1, keep_running=True
    )
    assert begun.output == "[still running in the shell main]"
    busy = await host.call("shell_exec", command="echo")
    assert "is still running" in busy.output
    assert "got tea" in (await host.call("shell_write", text="tea")).output
    assert "got tea" in (await host.call("shell_view")).output
    assert (await host.call("shell_kill")).success
    assert "was ended" in (await host.call("shell_wait")).output
    assert (await host.call("shell_exec", command="echo on")).output == "on\n"


@pytest.mark.thorough
async def test_what_a_program_did_not_read_is_no_command(host: Host) -> None:
    await host.call("shell_exec", command="sleep 0.5", keep_running=True, timeout_s=1)
    begun = await host.call("shell_exec", command="sleep 1.2", keep_running=True, timeout_s=1)
    assert "still running" in begun.output
    await host.call("shell_write", text="touch unread.txt")
    await host.call("shell_wait")
    await host.call("shell_exec", command="true")
    assert not (host.sshd.home / "work/unread.txt").exists()


@pytest.mark.thorough
async def test_a_command_that_is_over_is_not_waited_for(host: Host) -> None:
    await host.call("shell_exec", command="echo done")
    async with asyncio.timeout(20):
        waited = await host.call("shell_wait", timeout_s=600)
    assert waited.output == "done\n"


async def test_a_command_that_floods_is_ended(host: Host) -> None:
    flooded = await host.call("shell_exec", command="yes 0123456789012345678901234567890123456789", timeout_s=100)
    assert "wrote more than 64 MB" in flooded.output
    assert len(flooded.output) < 1_000_000
    assert (await host.call("shell_exec", command="echo on")).output == "on\n"


async def test_a_host_that_answers_any_script_without_end_is_read_no_further(host: Host) -> None:
    sent = 0

    async def flood(process: asyncssh.SSHServerProcess[bytes]) -> None:
        nonlocal sent
        with suppress(asyncssh.Error, OSError):
            while sent < 200 * 1024**2:
                process.stdout.write(b"./x\n" * 16_384)
                await process.stdout.drain()
                sent += 64 * 1024

    key: asyncssh.SSHKey = cast("Any", asyncssh).generate_private_key("ssh-ed25519")
    known = asyncssh.import_authorized_keys(host.pair.public)
    async with asyncssh.listen(
        *("127.0.0.1", 0),
        server_host_keys=[key],
        authorized_client_keys=known,
        process_factory=flood,
        sftp_factory=partial(asyncssh.SFTPServer, chroot=str(host.sshd.home).encode()),
        encoding=None,
    ) as hostile:
        shown = HostKey(*key.export_public_key().decode().split()[:2])
        host.at(hostile.get_port())
        host.target = replace(host.target, ssh=replace(host.target.ssh, host_key=shown))
        found = await host.call("file_find", pattern="*", path=".")
        assert (found.success, len(found.output) < 1_000_000) == (True, True)
        assert (await host.call("file_search", pattern="x", path=".")).success
        trial = await SshTrials(ANY)(host.target, host.pair.private)
        assert (trial.code, trial.steps[-1].name) == ("remote_host_unreachable", "shell")
        await host.connections.forget(SESSION)
    assert sent < 30 * 1024**2


async def test_files_are_written_read_edited_found_moved_and_deleted(host: Host) -> None:
    work = host.sshd.home / "work"
    wrote = await host.call("file_write", path="src/a.py", content="one\ntwo\nthree\n")
    assert (wrote.success, wrote.changed_paths) == (True, ["src/a.py"])
    again = await host.call("file_write", path="src/a.py", content="one\ntwo\nthree\n")
    assert [one.display and one.display["replaced"] for one in (wrote, again)] == [False, True]
    (work / "src/a.py").chmod(0o755)
    await host.call("file_append", path="src/a.py", content="four\n")
    edited = await host.call("file_edit", path="src/a.py", old="two", new="2")
    assert "-two\n+2" in edited.output
    assert (work / "src/a.py").read_text() == "one\n2\nthree\nfour\n"
    assert (work / "src/a.py").stat().st_mode & 0o777 == 0o755
    assert (await host.call("file_read", path="src/a.py", start_line=2, end_line=3)).output == "2\nthree\n"
    assert (await host.call("file_list")).output == "src/"
    assert (await host.call("file_find", pattern="*.py")).output == "src/a.py"
    assert (await host.call("file_find", pattern="src/**/*.py")).output == "src/a.py"
    assert f"{work}/src/a.py:3:three" in (await host.call("file_search", pattern="th.ee$")).output
    assert (await host.call("file_search", pattern="(")).output == (
        "The pattern is not a valid regular expression for grep -E."
    )
    moved = await host.call("file_move", source="src/a.py", destination="b.py")
    assert moved.success
    assert "already exists" in (await host.call("file_move", source="src", destination="b.py")).output
    assert (await host.call("file_delete", path="b.py")).success
    assert not (await host.call("file_delete", path="../work", recursive=True)).success
    missing = await host.call("file_read", path="none.txt")
    assert (missing.success, missing.output) == (False, "No such file: none.txt")
    assert sorted(path.name for path in work.iterdir()) == ["src"]


async def test_a_changed_host_key_is_refused_with_both_fingerprints(host: Host) -> None:
    await host.connect()
    await host.connections.forget("session-1")
    confirmed = host.target.ssh.host_key
    await host.sshd.stop()
    host.sshd.make_host_key()
    await host.sshd.start()
    with pytest.raises(HostKeyChangedError) as refused:
        await host.connect()
    assert confirmed is not None
    assert refused.value.seen is not None
    assert confirmed.fingerprint in refused.value.detail
    assert refused.value.seen.fingerprint in refused.value.detail
    assert refused.value.seen.fingerprint != confirmed.fingerprint


async def test_a_key_that_the_host_does_not_know_is_refused(host: Host) -> None:
    host.pair = AsyncsshKeys().generate("another")
    with pytest.raises(SignInRefusedError, match="authorized_keys"):
        await host.connect()


@pytest.mark.thorough
async def test_a_command_under_way_is_lost_with_the_network_and_the_next_one_runs(host: Host) -> None:
    async with relay_to(host.sshd.port) as relay:
        host.at(relay.port)
        await host.call("shell_exec", command="cd / && echo here")
        running = asyncio.create_task(host.call("shell_exec", command="sleep 30; echo never", timeout_s=100))
        await asyncio.sleep(0.3)
        relay.cut()
        async with asyncio.timeout(20):
            with pytest.raises(SandboxLostError, match="may still be running there"):
                await running
        relay.mend()
        back = await host.call("shell_exec", command="pwd")
        assert back.success
        await host.call("shell_exec", command="pkill -f 'sleep 30'; true")


@pytest.mark.thorough
async def test_a_host_that_takes_the_connection_and_never_answers_is_told_of_in_time() -> None:
    taken = asyncio.Event()

    async def listens(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.set()
        del writer
        while await reader.read(1024):
            pass

    async with serving(listens) as port, asyncio.timeout(20):
        host = SshHost(host="127.0.0.1", port=port, username="anna")
        sock = await open_socket(["127.0.0.1"], host)
        with pytest.raises(HostUnreachableError, match="did not complete the sign-in within 1 s"):
            await sign_in(host, sock, None, within_s=1.0)
        assert taken.is_set()
        assert sock.fileno() == -1


@pytest.mark.thorough
async def test_a_host_that_says_nothing_or_anything_else_is_told_of_in_time(host: Host) -> None:
    async def says(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del reader
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 3000)

    async with serving(says) as port:
        host.at(port)
        async with asyncio.timeout(20):
            with pytest.raises(HostUnreachableError, match="does not respond as an SSH server"):
                await host.connect()
    with pytest.raises(HostUnreachableError, match="can't be reached"):
        await host.connect()


@asynccontextmanager
async def app_at(port: int, said: bytes) -> AsyncGenerator[None]:
    """A web app on the host's loopback."""

    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said))
        await writer.drain()

    async with serving(answers, port):
        yield


async def body_of(apps: ToolApiSandboxApps, host: Host, port: int) -> bytes:
    await host.connect()
    async with apps.ask(host.sandbox, port, AppRequest(method=b"GET", target=b"/", headers=HEADERS)) as answer:
        assert answer.status == 200
        return b"".join([piece async for piece in answer.pieces()])


def apps_of(host: Host) -> ToolApiSandboxApps:
    hosts = SshHosts(store=NO_TARGETS, connections=host.connections, box=NO_BOX, access="any")
    return ToolApiSandboxApps(PortTunnels(Endpoints(NoEndpoints()), hosts))


async def test_an_app_on_the_host_is_reached_over_its_connection(host: Host) -> None:
    apps, port = apps_of(host), free_port()
    with pytest.raises(NothingListensError):
        await body_of(apps, host, port)
    page = b"shop " * 200_000
    async with app_at(port, page):
        bodies = await asyncio.gather(*(body_of(apps, host, port) for _ in range(12)))
    assert bodies == [page] * 12
    connected = await host.connect()
    assert (connected.open_ports, connected.is_at_work) == (0, False)


@pytest.mark.thorough
async def test_an_app_on_a_host_that_forwards_no_ports_says_so(host: Host) -> None:
    await host.sshd.stop()
    await host.sshd.start("AllowTcpForwarding=no")
    with pytest.raises(HostUnusableError, match="AllowTcpForwarding"):
        await body_of(apps_of(host), host, free_port())
