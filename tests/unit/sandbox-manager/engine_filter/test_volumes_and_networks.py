"""Which volumes and networks may be made."""

from __future__ import annotations

from typing import Any

import pytest

from engine_filter.policy import Policy
from engine_filter.refusals import Refused
from engine_filter.volumes_and_networks import judge_network, judge_volume

from .conftest import Json

OWN = {"agent-sandbox.stack": "own", "agent-sandbox.session": "s1"}
BIND = {"type": "none", "o": "bind", "device": "/var/lib/docker/volumes/own-ws-p/_data"}


def volume_body(**changed: Any) -> Json:
    return {"Name": "own-ws-s1", "Driver": "local", "DriverOpts": {}, "Labels": OWN} | changed


def network_body(**changed: Any) -> Json:
    config = [{"Subnet": "10.201.3.16/28", "IPRange": None, "Gateway": None, "AuxiliaryAddresses": None}]
    return {
        "Name": "own-net-0123",
        "Driver": "bridge",
        "Options": None,
        "IPAM": {"Driver": "default", "Config": config},
        "CheckDuplicate": True,
        "Labels": OWN,
    } | changed


def test_a_volume_of_its_own_goes_through(policy: Policy) -> None:
    wanted = judge_volume(policy, volume_body())
    assert (wanted.body["Name"], wanted.device) == ("own-ws-s1", None)


def test_a_second_name_is_told_with_the_folder_it_leads_to(policy: Policy) -> None:
    wanted = judge_volume(policy, volume_body(DriverOpts=BIND))
    assert wanted.device == BIND["device"]
    assert wanted.body["DriverOpts"] == BIND


VOLUMES: list[Json] = [
    {"Name": ""},
    {"Name": None},
    {"Name": "other-ws-1"},
    {"Name": "own-1"},
    {"Name": "own-ws-../../x"},
    {"Driver": "other"},
    {"Labels": {}},
    {"Labels": {"agent-sandbox.stack": "other"}},
    {"Labels": None},
    {"DriverOpts": {"type": "nfs", "o": "addr=10.0.0.1", "device": ":/"}},
    {"DriverOpts": {"type": "overlay", "o": "lowerdir=/,upperdir=/x", "device": "overlay"}},
    {"DriverOpts": {"type": "none", "o": "bind,suid", "device": "/"}},
    {"DriverOpts": {"type": "none", "o": "rbind", "device": "/"}},
    {"DriverOpts": {"type": "ext4", "o": "bind", "device": "/dev/sda1"}},
    {"DriverOpts": {"type": "none", "device": "/"}},
    {"DriverOpts": {"o": "bind", "device": "/"}},
    {"DriverOpts": BIND | {"size": "1"}},
    {"driveropts": BIND},
    {"ClusterVolumeSpec": {"Group": "x"}},
]


def test_a_volume_that_leads_elsewhere_is_refused(policy: Policy) -> None:
    for changed in VOLUMES:
        with pytest.raises(Refused):
            judge_volume(policy, volume_body(**changed))


def test_a_network_of_its_own_goes_through(policy: Policy) -> None:
    forwarded = judge_network(policy, network_body())
    assert forwarded["IPAM"] == {"Driver": "default", "Config": [{"Subnet": "10.201.3.16/28"}]}
    assert forwarded["CheckDuplicate"] is True


NETWORKS: list[Json] = [
    {"Name": "own-edge"},
    {"Name": "other-net-1"},
    {"Name": "host"},
    {"Driver": "macvlan"},
    {"Driver": "ipvlan"},
    {"Driver": "host"},
    {"Driver": "overlay"},
    {"Driver": None},
    {"Options": {"com.docker.network.bridge.name": "docker0"}},
    {"Options": {"parent": "eth0"}},
    {"options": {"parent": "eth0"}},
    {"Labels": {"agent-sandbox.stack": "other"}},
    {"Labels": {}},
    {"ConfigFrom": {"Network": "x"}},
    {"ConfigOnly": True},
    {"Ingress": True},
    {"Scope": "swarm"},
    {"Attachable": True},
    {"EnableIPv6": True},
    {"IPAM": {}},
    {"IPAM": {"Driver": "other", "Config": [{"Subnet": "10.201.3.16/28"}]}},
    {"IPAM": {"Config": [{"Subnet": "10.201.0.0/16"}]}},
    {"IPAM": {"Config": [{"Subnet": "192.168.0.0/28"}]}},
    {"IPAM": {"Config": [{"Subnet": "10.201.3.17/28"}]}},
    {"IPAM": {"Config": [{"Subnet": "fd00::/64"}]}},
    {"IPAM": {"Config": [{"Subnet": "10.201.3.16/28", "Gateway": "10.201.3.18"}]}},
    {"IPAM": {"Config": [{"Subnet": "10.201.3.16/28"}, {"Subnet": "10.201.3.32/28"}]}},
    {"IPAM": {"Options": {"x": "y"}, "Config": [{"Subnet": "10.201.3.16/28"}]}},
]


def test_a_network_that_leads_elsewhere_is_refused(policy: Policy) -> None:
    for changed in NETWORKS:
        with pytest.raises(Refused):
            judge_network(policy, network_body(**changed))
