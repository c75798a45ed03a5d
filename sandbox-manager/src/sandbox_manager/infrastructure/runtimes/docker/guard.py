"""The packet filter of a sandbox's network, set before it is used and renewed when there is more to close.

Docker lets a container reach link-local addresses (a cloud's metadata), the ports of its host at any of the host's
addresses, and, by a socket bound to a device, any machine that answers for an address on its bridge. It separates
bridges from each other, but removes and restores that rule whenever any network is made. So all of it is closed from
within: a short-lived container, the only one here with a capability, joins the sandbox's network namespace, sets the
rules, and is gone; the sandbox itself has no right to change them.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Generator, Iterable
from ipaddress import IPv4Network
from typing import Any

from sandbox_manager.domain.errors import DomainError, EngineUnavailableError, StartFailedError
from sandbox_manager.domain.sandbox import Identity
from sandbox_manager.infrastructure.runtimes.docker import naming
from sandbox_manager.infrastructure.runtimes.docker.container import ENDPOINT_PORT, why_ended
from sandbox_manager.infrastructure.runtimes.docker.engine import Engine, Json, dig
from sandbox_manager.infrastructure.runtimes.docker.options import DockerOptions
from sandbox_manager.infrastructure.runtimes.docker.subnets import subnets_of
from sandbox_manager.infrastructure.runtimes.packet_filter import FilterExceptions, HostNetworks, networks_of, rules

_log = logging.getLogger(__name__)

_RENEW_S = 10.0


def guard_names(stack: str, identity: Identity) -> list[str]:
    """The names of the container that sets the rules at a start, and of the one that renews them."""
    return [f"{stack}-{kind}-{identity.sandbox_id}" for kind in ("guard", "renew")]


class Guard:
    """Sets the rules of an engine's sandboxes, and remembers those of each.

    Blocking, for several threads. The rules are gone when a container is started again; it is another attachment then.
    """

    def __init__(self, engine: Engine, options: DockerOptions) -> None:
        self._engine = engine
        self._options = options
        self._host_networks = HostNetworks(options.host_fib_trie)
        self._lock, self._renewing = threading.Lock(), threading.Lock()
        self._starting: set[str] = set()
        self._in_place: dict[str, tuple[str, str]] = {}
        self._failed: dict[str, int] = {}

    @contextlib.contextmanager
    def starting(self, identity: Identity) -> Generator[None]:
        """Reserve this sandbox's rules for the length of the block: nobody else sets them."""
        with self._lock:
            self._starting.add(identity.sandbox_id)
        try:
            yield
        finally:
            with self._lock:
                self._starting.discard(identity.sandbox_id)

    def close(self, identity: Identity, subnet: str) -> None:
        """Set the rules of a sandbox that has just been started. Raises `StartFailedError`,
        `EngineUnavailableError`."""
        stack = self._options.stack
        wanted = _rules(subnet, self._closed_networks(self._engine.networks()))
        name = guard_names(stack, identity)[0]
        self._apply_rules(name, identity, wanted)
        attachment = _attachment(self._engine.container(naming.container_name(stack, identity)), stack, identity)
        with self._lock:
            self._in_place[identity.sandbox_id] = (attachment, wanted)

    def renew(self, running: dict[str, tuple[Identity, Json]], networks: list[Json]) -> None:
        """Set the rules of all running sandboxes again if they have changed or are gone; `running` is by sandbox, as
        the engine lists them.

        Failures, and sandboxes not reached in time, are left to the next call, which begins with those that failed
        least.
        """
        if not self._renewing.acquire(blocking=False):
            return
        try:
            self._renew(running, networks, time.monotonic() + _RENEW_S)
        finally:
            self._renewing.release()

    def _renew(self, running: dict[str, tuple[Identity, Json]], networks: list[Json], until: float) -> None:
        stack = self._options.stack
        subnets = {str(one.get("Name")): subnets_of([one]) for one in networks}
        try:
            closed = self._closed_networks(networks) if running else []
        except EngineUnavailableError as error:
            _log.error("rules not renewed", extra={"reason": error.detail})
            return
        with self._lock:
            self._in_place = {one: known for one, known in self._in_place.items() if one in running}
            busy = set(self._starting)
        self._failed = {one: times for one, times in self._failed.items() if one in running}
        for sandbox_id in sorted(running, key=lambda one: self._failed.get(one, 0)):
            identity, container = running[sandbox_id]
            own = subnets.get(naming.network_name(stack, identity))
            attachment = _attachment(container, stack, identity)
            if sandbox_id in busy or not own or not attachment:
                continue
            wanted = (attachment, _rules(str(own[0]), closed))
            if self._in_place.get(sandbox_id) == wanted:
                continue
            if time.monotonic() > until:
                _log.warning("rules not renewed in time")
                return
            name = guard_names(stack, identity)[1]
            try:
                self._apply_rules(name, identity, wanted[1])
            except DomainError as error:
                _log.warning("rules not renewed", extra={"sandbox_id": sandbox_id, "reason": error.detail})
                self._failed[sandbox_id] = self._failed.get(sandbox_id, 0) + 1
                self._remove_ended(name)
                continue
            self._failed.pop(sandbox_id, None)
            with self._lock:
                self._in_place[sandbox_id] = wanted

    def _remove_ended(self, name: str) -> None:
        """Remove the ended container of a manager that died, which would keep its name from all later ones."""
        with contextlib.suppress(DomainError):
            found = self._engine.container(name)
            if found is not None and not dig(found, "State", "Running"):
                self._engine.remove_container(name)

    def _closed_networks(self, networks: Iterable[Json]) -> list[IPv4Network]:
        options = self._options
        named = networks_of([*options.blocked_subnets, options.subnet_pool])
        return [*named, *subnets_of(networks), *self._host_networks()]

    def _apply_rules(self, name: str, identity: Identity, wanted: str) -> None:
        engine, stack = self._engine, self._options.stack
        sandbox = naming.container_name(stack, identity)
        engine.create_container(name, guard_config(self._options.image, stack, identity, wanted))
        try:
            engine.start_container(name)
            if engine.wait(name) != 0:
                _log.error("rules not set", extra={"guard": name, "output": engine.last_errors(name)})
                raise StartFailedError("The sandbox's network could not be closed off from this host.", retryable=True)
        except StartFailedError as error:
            if dig(engine.container(sandbox), "State", "Running"):
                raise
            # The engine refuses to join the network of an ended container; the next one may live.
            raise StartFailedError(why_ended(engine, sandbox), retryable=True) from error
        finally:
            engine.remove_container(name)


def guard_config(image: str, stack: str, identity: Identity, wanted: str) -> dict[str, Any]:
    """Body of the create call."""
    return {
        "Image": image,
        "User": "0:0",
        "WorkingDir": "/",
        "Entrypoint": ["nft", wanted],
        "Cmd": [],
        "Healthcheck": {"Test": ["NONE"]},
        "Labels": {naming.STACK: stack},
        "HostConfig": {
            "Privileged": False,
            "CapDrop": ["ALL"],
            "CapAdd": ["NET_ADMIN"],
            "SecurityOpt": ["no-new-privileges:true"],
            "ReadonlyRootfs": True,
            "Memory": 64 * 1024 * 1024,
            "PidsLimit": 16,
            "NetworkMode": f"container:{naming.container_name(stack, identity)}",
            "RestartPolicy": {"Name": "no"},
        },
    }


def _rules(subnet: str, closed: list[IPv4Network]) -> str:
    return rules(FilterExceptions.with_endpoint(subnet, ENDPOINT_PORT), [IPv4Network(subnet), *closed])


def _attachment(container: Json | None, stack: str, identity: Identity) -> str:
    """The attachment that tells one start of a container from the next; empty if there is none."""
    found = dig(container, "NetworkSettings", "Networks", naming.network_name(stack, identity), "EndpointID")
    return str(found or "")
