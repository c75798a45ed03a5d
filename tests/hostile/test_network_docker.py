"""A process in a container of the compose stack tries to reach its host, the stack and other sandboxes."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import secrets
import shlex
import socket
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, cast

import httpx
import psutil
import pytest
import pytest_asyncio

from support.compose_stack import ComposeStack, docker
from support.intruder import Intruder, enter_through
from support.reach import OUTSIDE, PORT, PRIVATE, Target, addresses_of_host, answered, listening_host, outside, targets
from support.sandboxes import sandbox_image, why_no_docker
from support.stack import wait_until
from support.tls import NO_TLS

pytestmark = [pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]

DEVICE = "eth0"
PUBLIC = ("198.51.100.87/32", "2001:db8:87::1/128", "169.254.87.87/32")
LATER = "198.51.100.88"
SWEEP_S = 45.0
PORTS = {"mongo": 27017, "redis": 6379, "sandbox-manager": 8100, "backend-api": 8000, "worker": 8010, "frontend": 5173}
ADMIN = ("--cap-drop", "ALL", "--security-opt", "no-new-privileges")

# An echo request by a raw socket, bound to the device: arguments are addresses; says those that answer.
RAW = """
import socket, struct, sys, time
for address in sys.argv[1:]:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
        try:
            raw.sendto(struct.pack("!BBHHH", 8, 0, 0xF7FE, 0, 1), (address, 0))
            until = time.monotonic() + 2
            while (left := until - time.monotonic()) > 0:
                raw.settimeout(left)
                told, (source, _) = raw.recvfrom(2000)
                if source == address and told[20] == 0:
                    print("answered", address)
                    break
        except OSError:
            pass
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """Two sandboxes of the stack and a port of this machine that is open at all of its addresses."""

    stack: ComposeStack
    own: Intruder
    other: Intruder
    port: int

    @property
    def container(self) -> str:
        return f"{self.stack.project}-{self.own.sandbox_id}"

    async def tried(self, wanted: list[Target]) -> list[Target]:
        """Those that answer the sandbox's own user."""

        async def run(program: str, given: str) -> str:
            coded = base64.b64encode(program.encode()).decode()
            program = f"echo {coded} | base64 -d > /tmp/p.py"
            return await self.own.run(f"{program}; echo {shlex.quote(given)} | python3 -I /tmp/p.py")

        return await answered(run, wanted)

    def addresses(self, service: str) -> list[str]:
        return addresses_of(self.stack.container_of(service))

    async def beside(self, *options: str, program: str, given: str = "", words: tuple[str, ...] = ()) -> str:
        """What a Python program says in another container of the sandbox's image."""
        command = ["docker", "run", "--rm", "-i", *ADMIN, *options, "--entrypoint", "python3", sandbox_image()]
        done = await asyncio.to_thread(
            subprocess.run,
            [*command, "-I", "-c", program, *words],
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout

    def rules(self) -> str:
        """Those of the sandbox's network now; nothing while it does not run."""
        options = ["--cap-add", "NET_ADMIN", "--user", "0:0", "--network", f"container:{self.container}"]
        command = ["docker", "run", "--rm", *ADMIN, *options, "--entrypoint", "nft", sandbox_image(), "list", "ruleset"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout


def addresses_of(container: str) -> list[str]:
    (found,) = cast("list[dict[str, Any]]", json.loads(docker("inspect", container)))
    return [str(one["IPAddress"]) for one in found["NetworkSettings"]["Networks"].values() if one["IPAddress"]]


def addresses_here() -> list[str]:
    """Every address of this machine, those of bridges too; link-local ones of IPv6 are on the sandbox's device."""
    own = [one for ones in psutil.net_if_addrs().values() for one in ones]
    found = [one.address for one in own if one.family == socket.AF_INET]
    found += [f"::ffff:{one}" for one in found]
    found += [
        f"{address}%{DEVICE}" if (address := one.address.partition("%")[0]).startswith("fe80") else address
        for one in own
        if one.family == socket.AF_INET6
    ]
    return [one for one in found if one not in ("127.0.0.1", "::ffff:127.0.0.1", "::1")]


@pytest.fixture(scope="module")
def engine() -> None:
    """There is one with the images."""
    reason = why_no_docker() or (None if os.geteuid() == 0 else "only root can give this machine addresses")
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture(scope="module")
def host_port(engine: None) -> Generator[int]:
    """A service of this machine, which has a public address, one of IPv6, and a link-local one."""
    with addresses_of_host(*PUBLIC), outside(), listening_host() as port:
        yield port


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(host_port: int, compose_stack: ComposeStack) -> AsyncGenerator[Scene]:
    headers = {"Authorization": f"Bearer {compose_stack.environ['SANDBOX_MANAGER_TOKEN']}"}
    manager = [one for one in addresses_of(compose_stack.container_of("sandbox-manager")) if accepts(one, 8100)]
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            httpx.AsyncClient(
                base_url=f"http://{manager[0]}:8100", headers=headers, timeout=90, trust_env=False, verify=NO_TLS
            )
        )
        own, other = [
            await stack.enter_async_context(enter_through(client, f"{name}-{secrets.token_hex(4)}", "intruder"))
            for name in ("own", "other")
        ]
        yield Scene(compose_stack, own, other, host_port)


def accepts(address: str, port: int) -> bool:
    """Whether this machine gets there: else a test of who does not could not fail."""
    with socket.socket() as one:
        one.settimeout(3)
        return one.connect_ex((address, port)) == 0


async def test_the_host_is_not_reached_at_any_of_its_addresses(scene: Scene) -> None:
    assert all(accepts(one, scene.port) for one in ("198.51.100.87", "172.17.0.1"))

    assert await scene.tried(targets([*addresses_here(), PRIVATE], [scene.port, PORT], DEVICE)) == []


async def test_no_service_of_the_stack_is_reached(scene: Scene) -> None:
    assert {service for service in scene.stack.services() if scene.addresses(service)} == set(PORTS)
    for service, port in PORTS.items():
        assert any(accepts(one, port) for one in scene.addresses(service)), service
    addresses = [one for service in PORTS for one in scene.addresses(service)]

    assert await scene.tried(targets(addresses, PORTS.values(), DEVICE)) == []


async def test_no_other_sandbox_is_reached(scene: Scene) -> None:
    other = addresses_of(f"{scene.stack.project}-{scene.other.sandbox_id}")
    assert accepts(other[0], 7000)

    assert await scene.tried(targets(other, [7000], DEVICE)) == []


async def test_what_is_open_stays_so(scene: Scene) -> None:
    outer = [one for one in targets([OUTSIDE], [PORT], DEVICE) if one.device in ("", DEVICE)]
    wanted = [*outer, Target("tcp", "127.0.0.1", 7000)]
    assert await scene.tried(wanted) == sorted(wanted)
    assert "exit=0" in await scene.own.run("curl -sf -m 5 http://127.0.0.1:9222/json/version")
    try:
        socket.getaddrinfo("example.com", 80)
    except OSError:
        return  # no names here
    assert "exit=0" in await scene.own.run("getent hosts example.com")


async def test_gateway_and_worker_come_in_to_the_endpoint_alone(scene: Scene) -> None:
    (address,) = addresses_of(scene.container)
    await scene.own.run("setsid python3 -m http.server 9999 >/dev/null 2>&1 & sleep 1")
    assert await scene.tried([Target("tcp", address, 9999)]) != []
    ask = (
        "import socket, sys; s = socket.socket(); s.settimeout(3); print(s.connect_ex((sys.argv[1], int(sys.argv[2]))))"
    )
    for service in ("backend-api", "worker"):
        client = scene.stack.container_of(service)
        told = [
            docker("exec", client, "/opt/app/venv/bin/python", "-c", ask, address, port) for port in ("7000", "9999")
        ]
        assert told[0].strip() == "0", service
        assert told[1].strip() != "0", service


async def test_a_raw_socket_gets_no_further(scene: Scene) -> None:
    options = ("--cap-add", "NET_RAW", "--user", "0:0", "--network", f"container:{scene.container}")
    closed = [*(one for one in addresses_here() if ":" not in one), *scene.addresses("backend-api")]

    told = await scene.beside(*options, program=RAW, words=(OUTSIDE, *closed))

    assert told.split() == ["answered", OUTSIDE]


async def test_only_root_whom_nobody_inside_can_become_asks_a_private_resolver(scene: Scene) -> None:
    """The engine's resolver asks on from within the sandbox's namespace, often at a router's private address."""
    wanted = [Target("udp", PRIVATE, 53), Target("tcp", PRIVATE, 53)]

    async def as_root(program: str, given: str) -> str:
        options = ("--user", "0:0", "--network", f"container:{scene.container}")
        return await scene.beside(*options, program=program, given=given)

    assert await answered(as_root, wanted) == sorted(wanted)
    assert await scene.tried(wanted) == []


async def test_gateway_and_worker_answer_nobody_for_their_other_addresses(scene: Scene) -> None:
    """Not even one in a sandbox's network without any rules."""
    network = f"{scene.stack.project}-net-{scene.own.sandbox_id}"
    (own,) = addresses_of(scene.container)
    legs = [one for service in ("backend-api", "worker") for one in scene.addresses(service)]
    here = [one for one in legs if one.rsplit(".", 1)[0] == own.rsplit(".", 1)[0]]
    wanted = targets([one for one in legs if one not in here], [8000, 8010], DEVICE)

    async def without_rules(program: str, given: str) -> str:
        return await scene.beside("--network", network, program=program, given=given)

    control = [Target("icmp", one, 0, f"{DEVICE} onlink") for one in here]
    assert len(here) == 2
    assert await answered(without_rules, control) == sorted(control)
    assert await answered(without_rules, wanted) == []


async def test_nobody_inside_can_change_the_rules(scene: Scene) -> None:
    for one in ("{}", "unshare --user --map-root-user {}", "unshare --user --map-root-user --mount {}"):
        assert "exit=0" not in await scene.own.run(one.format("nft flush ruleset"))
    assert "table inet sandbox" in scene.rules()


async def test_an_address_the_host_gets_later_is_closed_by_the_next_sweep(scene: Scene) -> None:
    with addresses_of_host(f"{LATER}/32"):
        assert await asyncio.to_thread(wait_until, lambda: LATER in scene.rules(), SWEEP_S)
        assert await scene.tried(targets([LATER], [scene.port], DEVICE)) == []


@pytest.mark.thorough
async def test_a_container_somebody_starts_again_gets_its_rules_again_or_ends(scene: Scene) -> None:
    async with enter_through(scene.own.manager, f"again-{secrets.token_hex(4)}", "intruder") as again:
        started = Scene(scene.stack, again, scene.other, scene.port)
        await asyncio.to_thread(docker, "restart", "-t", "1", started.container)

        def is_closed() -> bool:
            running = docker("ps", "-q", "--filter", f"name={started.container}").strip()
            return not running or "table inet sandbox" in started.rules()

        assert await asyncio.to_thread(wait_until, is_closed, SWEEP_S)
