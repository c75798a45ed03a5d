"""Free subnets of the pool."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Iterable, Iterator
from typing import Any

from sandbox_manager.infrastructure.runtimes.docker.engine import dig

_PREFIX = 28


def subnets_of(networks: Iterable[dict[str, Any]]) -> list[ipaddress.IPv4Network]:
    """The IPv4 subnets of the engine's networks."""
    configs = [config for network in networks for config in dig(network, "IPAM", "Config") or ()]
    subnets = [ipaddress.ip_network(dig(config, "Subnet") or "::/128", strict=False) for config in configs]
    return [subnet for subnet in subnets if isinstance(subnet, ipaddress.IPv4Network)]


def free_subnets(pool: str, networks: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The pool's subnets that no known network overlaps, from a random place, so that managers seldom collide."""
    taken = subnets_of(networks)
    subnets = list(ipaddress.IPv4Network(pool).subnets(new_prefix=_PREFIX))
    first = random.randrange(len(subnets))
    for subnet in subnets[first:] + subnets[:first]:
        if not any(subnet.overlaps(one) for one in taken):
            yield str(subnet)
