"""A process in a sandbox of the process runtime tries to reach the machine it runs on, and what it must not besides."""

from __future__ import annotations

import base64
import errno
import os
import secrets
import shlex
import socket
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from support.intruder import Intruder, enter
from support.reach import OUTSIDE, PORT, PRIVATE, Target, addresses_of_host, answered, listening_host, outside, targets
from support.stack import Stack, wait_until

pytestmark = [pytest.mark.timeout(180), pytest.mark.asyncio(loop_scope="module")]

DEVICE = "tap0"
PUBLIC = ("198.51.100.77/32", "2001:db8:77::1/128", "169.254.77.77/32")
LATER = "198.51.100.78"
SWEEP_S = 45.0


@pytest.fixture(scope="module")
def host_port() -> Generator[int]:
    """A service of this machine, which has a public address, one of IPv6, and a link-local one."""
    if os.geteuid() != 0:
        pytest.skip("only root can give this machine addresses")
    with addresses_of_host(*PUBLIC), listening_host() as port, outside():
        yield port


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def intruder(stack: Stack, host_port: int) -> AsyncGenerator[Intruder]:
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("/dev/net/tun is closed here: sandboxes have no network")
    async with enter(stack, f"network-{secrets.token_hex(4)}") as inside:
        yield inside


async def tried(intruder: Intruder, wanted: list[Target]) -> list[Target]:
    async def run(program: str, given: str) -> str:
        coded = base64.b64encode(program.encode()).decode()
        program = f"echo {coded} | base64 -d > /tmp/p.py"
        return await intruder.run(f"{program}; echo {shlex.quote(given)} | python3 -I /tmp/p.py")

    return await answered(run, wanted)


def addresses_here() -> list[str]:
    """Every address of this machine, of either kind, and those that stand for it in a sandbox's network."""
    own = [
        one
        for ones in psutil.net_if_addrs().values()
        for one in ones
        if one.family in (socket.AF_INET, socket.AF_INET6)
    ]
    found = [one.address.partition("%")[0] for one in own]
    stand_ins = ["10.0.2.2", "10.0.2.3", "255.255.255.255"]
    return [one for one in found if one not in ("127.0.0.1", "::1")] + stand_ins


async def test_this_machine_is_not_reached_at_any_of_its_addresses(intruder: Intruder, host_port: int) -> None:
    mapped = [f"::ffff:{one}" for one in addresses_here() if "." in one]
    assert await tried(intruder, targets([*addresses_here(), *mapped, PRIVATE], [host_port, PORT], DEVICE)) == []


async def test_what_is_outside_is_reached_either_way(intruder: Intruder, host_port: int) -> None:
    wanted = [
        one for one in targets([OUTSIDE], [PORT], DEVICE) if one.protocol != "icmp" and one.device in ("", DEVICE)
    ]
    assert await tried(intruder, wanted) == sorted(wanted)


async def test_of_the_resolver_only_the_port_of_names_is_open(intruder: Intruder) -> None:
    ask = "import socket; s = socket.socket(); s.settimeout(5); print('told', s.connect_ex(('10.0.2.3', 8000)))"
    assert f"told {errno.EHOSTUNREACH}" in await intruder.python(ask)
    name = "example.com"
    try:
        socket.getaddrinfo(name, 80)
    except OSError:
        return  # no names here
    assert "exit=0" in await intruder.run(f"getent hosts {name}")


async def test_an_address_this_machine_gets_later_is_closed_by_the_next_sweep(
    intruder: Intruder, host_port: int
) -> None:
    wanted = targets([LATER], [host_port], DEVICE)
    with addresses_of_host(f"{LATER}/32"):
        assert wait_until(lambda: LATER in rules_of(intruder), SWEEP_S)
        assert await tried(intruder, wanted) == []


def rules_of(intruder: Intruder) -> str:
    """The rules of its namespace, seen by root of this machine; nothing while it can't be found."""
    marked = f"/{intruder.sandbox_id}/".encode()
    for process in psutil.process_iter(["pid", "name", "cmdline"]):
        if process.info["name"] != "slirp4netns":
            continue
        with suppress(OSError, StopIteration):
            if marked in Path(f"/proc/{process.pid}/environ").read_bytes():
                namespace = next(one for one in process.info["cmdline"] if one.endswith("/ns/net"))
                list_rules = ["nsenter", f"--net={namespace}", "nft", "list", "ruleset"]
                return subprocess.run(list_rules, capture_output=True, text=True, check=True, timeout=10).stdout
    return ""


async def test_nobody_inside_can_change_the_rules(intruder: Intruder, host_port: int) -> None:
    tries = ("{}", "unshare --user --map-root-user {}", "unshare --user --map-root-user --mount {}")
    for one in tries:
        told = await intruder.run(one.format("nft flush ruleset"))
        assert "exit=0" not in told, one
        told = await intruder.run(one.format("ip route replace 198.51.100.77 via 10.0.2.2"))
        assert "exit=0" not in told, one
    assert await tried(intruder, [Target("tcp", "198.51.100.77", host_port, DEVICE)]) == []


async def test_a_sandbox_without_a_network_has_only_its_own_loopback(ordinary_stack: Stack) -> None:
    name = f"tests-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        async with enter(ordinary_stack, "cut-off") as inside:
            if os.access("/dev/net/tun", os.R_OK | os.W_OK) and os.geteuid() != 0:
                pytest.skip("/dev/net/tun is open to everybody here: this sandbox has a network")
            assert (await inside.run("cut -d: -f1 /proc/net/dev | tail -n +3")).split() == ["lo", "exit=0"]
            told = await inside.python(
                "import socket\n"
                f"print('told', socket.socket(socket.AF_UNIX).connect_ex(chr(0) + {name!r}))\n"
                "print('told', socket.socket().connect_ex(('198.51.100.77', 80)))\n"
            )
            assert f"told {errno.ECONNREFUSED}" in told
            assert f"told {errno.ENETUNREACH}" in told
