"""What a sandbox's network leads to nowhere."""

from __future__ import annotations

import ipaddress

from sandbox_manager.infrastructure.runtimes.docker.guard import closed_routes
from sandbox_manager.infrastructure.runtimes.docker.subnets import subnets_of

NETWORKS = [
    {"Name": "data", "IPAM": {"Config": [{"Subnet": "172.18.0.0/16"}, {"Subnet": "fd00::/64"}]}},
    {"Name": "own", "IPAM": {"Config": [{"Subnet": "10.9.0.16/28"}]}},
    {"Name": "host", "IPAM": {"Config": None}},
]


def test_all_other_networks_and_the_host_are_closed_and_the_own_one_is_not() -> None:
    others = [*subnets_of(NETWORKS), ipaddress.IPv4Network("10.9.0.0/20")]
    assert closed_routes("10.9.0.16/28", others, host_enters=False) == [
        "169.254.0.0/16",
        "10.9.0.17/32",
        "10.9.0.0/20",
        "172.18.0.0/16",
    ]


def test_the_host_stays_open_for_a_gateway_that_runs_there() -> None:
    assert closed_routes("10.9.0.16/28", [], host_enters=True) == ["169.254.0.0/16"]
