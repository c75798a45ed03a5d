"""When the rules of sandboxes' networks are set, renewed and left alone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError, StartFailedError
from sandbox_manager.infrastructure.runtimes.docker import guard, naming
from sandbox_manager.infrastructure.runtimes.docker.engine import Engine
from sandbox_manager.infrastructure.runtimes.docker.guard import Guard, guard_names
from support.sandboxes import docker_options, inside, new_identity

TRIE = "|-- 198.51.100.7\n   /32 host LOCAL\n"
SUBNET = "10.201.0.16/28"
Json = dict[str, Any]


class RecordingEngine:
    """Guards end at once, with `code`."""

    def __init__(self, networks: list[Json]) -> None:
        self.listed = networks
        self.set: list[tuple[str, str]] = []
        self.left: set[str] = set()
        self.code = 0
        self.ends_early = False

    def networks(self) -> list[Json]:
        return self.listed

    def container(self, name: str) -> Json | None:
        if any(kind in name for kind in ("-guard-", "-renew-")):
            return {"State": {"Running": False}} if name in self.left else None
        return {"State": {"Running": not self.ends_early, "ExitCode": 1}, **attached(name, "first")}

    def create_container(self, name: str, config: Json) -> str:
        assert config["HostConfig"]["CapAdd"] == ["NET_ADMIN"]
        if name in self.left:
            raise StartFailedError("The container name is already in use", retryable=False)
        self.left.add(name)
        self.set.append((name, config["Entrypoint"][1]))
        return name

    def start_container(self, name: str) -> None:
        if self.ends_early:
            raise StartFailedError("cannot join the network of a container that does not run", retryable=False)

    def wait(self, name: str) -> int:
        return self.code

    def last_errors(self, name: str) -> str:
        return "refused"

    def remove_container(self, name: str) -> None:
        self.left.discard(name)


def attached(container: str, endpoint: str) -> Json:
    stack, _, sandbox_id = container.partition("-")
    return {"NetworkSettings": {"Networks": {f"{stack}-net-{sandbox_id}": {"EndpointID": endpoint}}}}


def network(name: str, *subnets: str) -> Json:
    return {"Name": name, "IPAM": {"Config": [{"Subnet": subnet} for subnet in subnets]}}


class Scene:
    """One sandbox, an engine with its network and another one, and a host with one address."""

    def __init__(self, trie: Path) -> None:
        self.trie = trie
        trie.write_text(TRIE)
        self.identity = new_identity()
        self.own = network(naming.network_name("test", self.identity), SUBNET)
        self.engine = RecordingEngine([self.own, network("other", "203.0.113.0/24", "fd00::/64"), {"Name": "host"}])
        options = docker_options("test", inside(), image="agent-sandbox:none")
        self.guard = Guard(cast("Engine", self.engine), replace(options, host_fib_trie=trie))

    def start(self) -> None:
        with self.guard.starting(self.identity):
            self.guard.close(self.identity, SUBNET)

    def sweep(self, endpoint: str = "first") -> None:
        container = attached(naming.container_name("test", self.identity), endpoint)
        self.guard.renew({self.identity.sandbox_id: (self.identity, container)}, self.engine.listed)

    def closed(self) -> list[IPv4Network]:
        return closed_in(self.engine.set[-1][1])


def closed_in(rules: str) -> list[IPv4Network]:
    found = re.search(r"elements = \{ (.*) \}", rules)
    assert found is not None
    return [IPv4Network(one) for one in found[1].split(", ")]


def covers(closed: list[IPv4Network], address: str) -> bool:
    return any(IPv4Address(address) in one for one in closed)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path / "fib_trie")
    yield made
    assert made.engine.left == set()


def test_the_pool_every_network_and_the_host_are_closed_and_the_rest_is_not(scene: Scene) -> None:
    scene.start()

    closed = scene.closed()
    for address in ("10.201.0.17", "10.201.9.9", "203.0.113.4", "198.51.100.7", "192.168.1.1", "169.254.169.254"):
        assert covers(closed, address), address
    for address in ("198.51.100.8", "1.1.1.1", "93.184.216.34"):
        assert not covers(closed, address), address


def test_only_the_own_network_comes_in_to_the_endpoint(scene: Scene) -> None:
    scene.start()

    assert f"ip saddr {SUBNET} tcp dport 7000 accept" in scene.engine.set[-1][1]


def test_rules_that_stand_are_left_alone(scene: Scene) -> None:
    scene.start()
    scene.sweep()
    scene.sweep()

    assert [name for name, _ in scene.engine.set] == guard_names("test", scene.identity)[:1]


def test_an_address_the_host_gets_later_is_closed_with_the_next_sweep(scene: Scene) -> None:
    scene.start()
    scene.trie.write_text(TRIE + "|-- 198.51.100.99\n   /32 host LOCAL\n")
    scene.sweep()
    scene.sweep()

    assert len(scene.engine.set) == 2
    assert covers(scene.closed(), "198.51.100.99")


def test_a_container_that_was_started_again_gets_its_rules_again(scene: Scene) -> None:
    scene.start()
    scene.sweep("second")

    assert len(scene.engine.set) == 2


def test_one_that_another_manager_started_gets_rules_once(scene: Scene) -> None:
    scene.sweep()
    scene.sweep()

    assert len(scene.engine.set) == 1


def test_a_start_that_goes_on_is_left_to_who_starts(scene: Scene) -> None:
    with scene.guard.starting(scene.identity):
        scene.sweep()

    assert scene.engine.set == []


def test_what_could_not_be_renewed_is_tried_again(scene: Scene) -> None:
    scene.engine.code = 1
    scene.sweep()
    scene.engine.code = 0
    scene.sweep()

    assert len(scene.engine.set) == 2


def test_what_a_manager_that_died_left_keeps_no_later_one_from_renewing(scene: Scene) -> None:
    scene.engine.left.add(guard_names("test", scene.identity)[1])
    scene.sweep()
    scene.sweep()

    assert len(scene.engine.set) == 1


def test_a_start_without_rules_fails(scene: Scene) -> None:
    scene.engine.code = 1
    with pytest.raises(StartFailedError, match="could not be closed off"):
        scene.start()

    scene.engine.ends_early = True
    with pytest.raises(StartFailedError, match="ended before it was ready"):
        scene.start()


def test_without_the_addresses_of_the_host_nothing_is_opened(scene: Scene) -> None:
    scene.trie.unlink()
    with pytest.raises(EngineUnavailableError, match="addresses of this host"):
        scene.start()
    scene.sweep()

    assert scene.engine.set == []


def test_those_that_failed_hold_up_nobody_else_at_the_next_sweep(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call has time for one."""
    identities = [new_identity() for _ in range(3)]
    networks = [network(naming.network_name("test", one), f"10.201.{n}.16/28") for n, one in enumerate(identities)]
    running = {one.sandbox_id: (one, attached(naming.container_name("test", one), "first")) for one in identities}
    bad = guard_names("test", identities[0])[1]
    monkeypatch.setattr(scene.engine, "wait", lambda name: int(name == bad))
    ticks = itertools.count()
    monkeypatch.setattr(guard, "_RENEW_S", 1.5)
    monkeypatch.setattr(guard, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))

    for _ in range(4):
        scene.guard.renew(running, networks)

    assert [name for name, _ in scene.engine.set] == [
        bad,
        *(guard_names("test", one)[1] for one in identities[1:]),
        bad,
    ]
