"""Routes that lead nowhere, set in a sandbox's network before it is used.

Docker lets a container reach link-local addresses (a cloud's metadata) and the ports of its host. It keeps bridges from
each other, but takes that rule out and puts it back whenever any network is made, and what is sent in that moment
arrives: so other networks are closed from within, too. A container of one breath joins the sandbox's network namespace,
the only one here with a capability, sets the routes, and is gone; the sandbox itself has no right to change them.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterable
from typing import Any

from sandbox_manager.domain.errors import StartFailedError
from sandbox_manager.domain.sandbox import Identity
from sandbox_manager.infrastructure.runtimes.docker import naming
from sandbox_manager.infrastructure.runtimes.docker.container import why_ended
from sandbox_manager.infrastructure.runtimes.docker.engine import Engine, dig
from sandbox_manager.infrastructure.runtimes.docker.options import DockerOptions
from sandbox_manager.infrastructure.runtimes.docker.subnets import subnets_of

_log = logging.getLogger(__name__)

_LINK_LOCAL = "169.254.0.0/16"

# rtnetlink by hand: the image needs no iproute2 for it. 24 is RTM_NEWROUTE, type 6 a blackhole, 17 is EEXIST.
_SCRIPT = """
import ipaddress, socket, struct, sys
kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
for number, text in enumerate(sys.argv[1:], 1):
    subnet = ipaddress.ip_network(text)
    route = struct.pack("BBBBBBBBI", socket.AF_INET, subnet.prefixlen, 0, 0, 254, 4, 0, 6, 0)
    route += struct.pack("HH4s", 8, 1, subnet.network_address.packed)
    kernel.send(struct.pack("IHHII", 16 + len(route), 24, 0x405, number, 0) + route)
    status = struct.unpack_from("i", kernel.recv(4096), 16)[0]
    if status not in (0, -17):
        sys.exit(f"{text}: {status}")
"""


def guard_name(stack: str, identity: Identity) -> str:
    return f"{stack}-guard-{identity.sandbox_id}"


def closed_routes(subnet: str, others: Iterable[ipaddress.IPv4Network], *, host_enters: bool) -> list[str]:
    """What is closed: link-local addresses, the engine's other networks, and the host.

    Where the gateway runs on the host it comes by the host's address, which then stays open.
    """
    own = ipaddress.IPv4Network(subnet)
    host = [] if host_enters else [f"{own[1]}/32"]
    return [_LINK_LOCAL, *host, *sorted({str(other) for other in others} - {subnet})]


def close_routes(engine: Engine, options: DockerOptions, identity: Identity, subnet: str) -> None:
    """Blocks until they are. Raises `StartFailedError`."""
    name, sandbox = guard_name(options.stack, identity), naming.container_name(options.stack, identity)
    clients = options.door_clients
    others = [*subnets_of(engine.networks()), ipaddress.IPv4Network(options.subnet_pool)]
    closed = closed_routes(subnet, others, host_enters=not (clients.names or clients.labels))
    engine.create_container(name, guard_config(options.image, options.stack, identity, closed))
    try:
        engine.start_container(name)
        if engine.wait(name) != 0:
            _log.error("routes not closed", extra={"guard": name, "output": engine.last_errors(name)})
            raise StartFailedError("The sandbox's network could not be closed off from this host.", retryable=True)
    except StartFailedError as error:
        if dig(engine.container(sandbox), "State", "Running"):
            raise
        # The engine refuses to join the network of what has ended; the next one may live.
        raise StartFailedError(why_ended(engine, sandbox), retryable=True) from error
    finally:
        engine.remove_container(name)


def guard_config(image: str, stack: str, identity: Identity, closed: list[str]) -> dict[str, Any]:
    """Body of the create call."""
    return {
        "Image": image,
        "User": "0:0",
        "WorkingDir": "/",
        "Entrypoint": ["python3", "-I", "-c", _SCRIPT, *closed],
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
