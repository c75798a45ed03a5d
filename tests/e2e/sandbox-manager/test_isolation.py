"""What code in a sandbox tries to reach, and must not. Every target really listens or exists."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import uuid
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from sandbox_manager.infrastructure.runtimes.packet_filter import host_networks
from support.cells import Cells
from support.runtime_labs import ProcessLab
from support.sandboxes import ROOT
from support.servers import Server, free_port
from support.sources import python_path

pytestmark = [pytest.mark.timeout(240), pytest.mark.asyncio(loop_scope="module")]

Target = tuple[str, int]

PROBE = """
import json, socket, sys
from concurrent.futures import ThreadPoolExecutor
def reached(target):
    try:
        socket.create_connection(tuple(target), 3).close()
        return True
    except OSError:
        return False
targets = json.loads(sys.argv[1])
with ThreadPoolExecutor(32) as pool:
    print("reached=" + json.dumps([t for t, ok in zip(targets, pool.map(reached, targets)) if ok]))
"""


async def reached_from(cells: Cells, targets: list[Target]) -> list[Target]:
    """Which of the targets a connection from inside gets to."""
    script = base64.b64encode(PROBE.encode()).decode()
    told = await cells.own.run(
        f"echo {script} | base64 -d > /tmp/probe.py; python3 /tmp/probe.py '{json.dumps(targets)}'"
    )
    line = next(one for one in told.splitlines() if one.startswith("reached="))
    return [(str(host), int(port)) for host, port in json.loads(line.removeprefix("reached="))]


def host_addresses() -> list[str]:
    """Every name this machine has for itself, seen from a sandbox of either runtime."""
    return ["127.0.0.1", "10.0.2.2", *(str(one[0]) for one in host_networks())]


@contextlib.contextmanager
def listening(address: str) -> Generator[int]:
    """A port that accepts, as any service of the host would."""
    with socket.create_server((address, 0)) as server:
        yield int(server.getsockname()[1])


@pytest.fixture
def manager_port(mongo_server: Server, mongo_database_name: str) -> Generator[int]:
    """A real manager on loopback."""
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT / 'tests'}:{python_path('sandbox-manager')}",
        "MONGO_URI": mongo_server.uri,
        "MANAGER_MONGO_DB_NAME": mongo_database_name,
        "MANAGER_PORT": str(port),
        "SANDBOX_MANAGER_TOKEN": uuid.uuid4().hex,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "support.fake_manager"], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        yield port
    finally:
        process.terminate()
        process.wait(10)


async def accepts(port: int) -> None:
    """Wait until a port of this machine accepts: else a test of who can't reach it could not fail."""
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                await writer.wait_closed()
                return
            await asyncio.sleep(0.05)


async def test_no_service_of_this_machine_is_reached(
    cells: Cells, mongo_server: Server, redis_server: Server, manager_port: int
) -> None:
    with listening("127.0.0.1") as inner_port:
        ports = [mongo_server.port, redis_server.port, manager_port, inner_port]
        for port in ports:
            await accepts(port)

        gateways = await cells.own.run("ip route 2>/dev/null || awk '$2==\"00000000\"{print $3}' /proc/net/route")
        hosts = [*host_addresses(), *_gateways(gateways)]
        reached = await reached_from(cells, [(host, port) for host in hosts for port in ports])

    assert reached == []


def _gateways(routes: str) -> list[str]:
    words = routes.split()
    named = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "via"]
    coded = [one for one in words if len(one) == 8 and all(char in "0123456789ABCDEFabcdef" for char in one)]
    return named + [".".join(str(part) for part in reversed(bytes.fromhex(one))) for one in coded]


async def test_the_probe_reaches_what_it_may(cells: Cells) -> None:
    """The control of the tests above and below: Chrome of one's own sandbox listens on its loopback."""
    assert await reached_from(cells, [("127.0.0.1", 9222)]) == [("127.0.0.1", 9222)]


async def test_no_port_of_this_machine_is_reached_at_any_of_its_addresses(cells: Cells) -> None:
    with listening("0.0.0.0") as port:
        await accepts(port)
        assert await reached_from(cells, [(host, port) for host in host_addresses()]) == []


async def test_the_neighbours_endpoint_control_port_and_screen_are_not_reached(cells: Cells) -> None:
    endpoint = cells.other.started.endpoint
    if endpoint.startswith("unix:"):
        path = endpoint.removeprefix("unix:")
        assert Path(path).is_socket()
        code = f"import socket; socket.socket(socket.AF_UNIX).connect({path!r})"
        assert "FileNotFoundError" in await cells.own.run(f'python3 -c "{code}"')
        return
    address, port = urlsplit(endpoint).hostname, urlsplit(endpoint).port
    assert address is not None
    assert port is not None
    _, writer = await asyncio.open_connection(address, port)
    writer.close()
    await writer.wait_closed()
    targets = [(address, one) for one in (port, 9222, 5900, 5901, 6080)]
    assert await reached_from(cells, targets) == []


async def test_the_screen_has_no_port(cells: Cells) -> None:
    assert await reached_from(cells, [("127.0.0.1", port) for port in (5900, 5901, 6000, 6001, 6080)]) == []


async def test_the_neighbours_processes_and_files_are_not_seen(cells: Cells) -> None:
    mark = uuid.uuid4().hex
    assert "exit=0" in await cells.other.run(f"echo {mark} > /workspace/private; sleep 7263 &")

    workspace = cells.other.workspace
    told = await cells.own.run(f"cat {workspace}/private; ls /workspace; ps ax | grep -c '[s]leep 7263'")

    assert mark not in told
    assert "private\n" not in told
    assert told.rstrip().splitlines()[-2] == "0"


async def test_the_hosts_environment_and_processes_are_not_seen(cells: Cells) -> None:
    mark = uuid.uuid4().hex
    host = await asyncio.create_subprocess_exec("sleep", "60", env={"PATH": os.environ["PATH"], "SECRET": mark})
    try:
        told = await cells.own.run(
            f"cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c {mark[:8]}'{mark[8:]}'"
        )
        assert told.splitlines()[0] == "0"
        assert "No such process" in await cells.own.run(f"kill -0 {host.pid}") or host.pid < 64
        environment = await cells.own.run("env")
        assert "MONGO" not in environment
        assert "TOKEN" not in environment
    finally:
        host.kill()
        await host.wait()


async def test_files_of_the_host_are_not_seen(cells: Cells, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    secret = tmp_path / "secret"
    secret.write_text(mark)
    secret.chmod(0o644)

    told = await cells.own.run(f"cat {secret}; ls -A {Path.home()} /home /var/lib")

    assert mark not in told
    assert "root:" not in await cells.own.run("cat /etc/shadow")
    assert "PRIVATE" not in await cells.own.run("cat /etc/ssh/ssh_host_*")
    assert not any(name in told for name in (".ssh", ".bashrc\n", "mongodb"))


async def test_no_engine_socket_is_there(cells: Cells) -> None:
    told = await cells.own.run("find / -name '*docker*.sock' -o -name 'containerd*.sock' 2>/dev/null; ls /run /var/run")

    assert "docker" not in told
    assert "containerd" not in told


async def test_nothing_can_be_mounted(cells: Cells) -> None:
    assert "exit=0" not in await cells.own.run("mkdir -p /tmp/m; mount -t tmpfs none /tmp/m")
    assert "exit=0" not in await cells.own.run("mount -o remount,rw /")
    for trick in ("mount -o remount,bind,rw /usr && touch /usr/ours", "umount -l /usr"):
        assert "exit=0" not in await cells.own.run(f"unshare --user --map-root-user --mount sh -c '{trick}'")


async def test_system_files_can_not_be_written(cells: Cells) -> None:
    for path in ("/usr/ours", "/etc/ours", "/ours", "/bin/ours", "/usr/bin/python3"):
        assert "exit=0" not in await cells.own.run(f"touch -m {path}")


async def test_there_are_no_capabilities_and_no_way_to_new_ones(cells: Cells) -> None:
    told = await cells.own.run("cat /proc/self/status")

    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert f"{name}:\t0000000000000000" in told
    assert "NoNewPrivs:\t1" in told
    assert "uid=1000(agent) gid=1000(agent) groups=1000(agent)" in await cells.own.run("id")


async def test_a_setuid_program_of_root_gives_nothing(cells: Cells) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can plant a setuid program of root")
    planted = cells.own.workspace / "planted"
    shutil.copy(shutil.which("id") or "/usr/bin/id", planted)
    os.chown(planted, 0, 0)
    planted.chmod(0o4755)

    told = await cells.own.run("/workspace/planted -u")

    assert told.splitlines()[0] == "1000"


async def test_on_the_host_what_is_run_in_a_sandbox_is_not_root(cells: Cells) -> None:
    mark = f"72{uuid.uuid4().int % 10**6:06}"
    begun = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done'
    assert "exit=0" in await cells.own.run(f"sleep {mark} & {begun}")
    (sleeper,) = [one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == ["sleep", mark]]

    ids = {*sleeper.uids(), *sleeper.gids()}
    assert 0 not in ids
    if isinstance(cells.own.lab, ProcessLab) and os.geteuid() != 1000:
        assert sleeper.uids().effective != 1000, "a user of this host could be its owner"


@pytest.mark.parametrize("cells", ["process"], indirect=True)  # nothing of the host is bound into a container
async def test_files_only_root_may_read_stay_closed_where_they_are_bound(cells: Cells) -> None:
    if os.geteuid() != 0:
        pytest.skip("an ordinary user's sandbox runs with that user's own rights")
    bound = ROOT / "tool-api" / "src" / f"closed-{uuid.uuid4().hex}"
    bound.write_text("closed")
    bound.chmod(0o600)
    try:
        told = await cells.own.run(f"ls {bound}; cat {bound}")
    finally:
        bound.unlink()

    assert "Permission denied" in told
    assert "closed\n" not in told.replace(str(bound), "")


async def test_link_local_addresses_lead_nowhere(cells: Cells) -> None:
    assert await reached_from(cells, [("169.254.169.254", 80)]) == []
