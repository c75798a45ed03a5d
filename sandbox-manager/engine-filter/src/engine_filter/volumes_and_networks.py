"""Bodies that make volumes and networks."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Any, cast

from engine_filter.containers import REF, own_labels, own_volume
from engine_filter.policy import Policy
from engine_filter.refusals import Refused
from engine_filter.shapes import Rule, boolean, need, one_of, record, shaped, text, texts
from engine_filter.strict_json import Json

_LONGEST_PREFIX = 30
_SHORTEST_PREFIX = 24
_BIND: dict[str, Rule] = {"type": one_of("none"), "o": one_of("bind"), "device": text(r"/[^\0\n]*", 4096)}


@dataclass(frozen=True, slots=True)
class WantedVolume:
    """A body to forward; `device` is a folder of the host that must first be found to be an own volume's."""

    body: Json
    device: str | None


def judge_volume(policy: Policy, body: Json) -> WantedVolume:
    """Raises `Refused`."""
    kept = record(
        body,
        {
            "Name": text(own_volume(policy)),
            "Driver": one_of("local", ""),
            "DriverOpts": shaped(_BIND),
            "Labels": own_labels(policy),
        },
        "",
    )
    need(kept, ("Name", "Labels"), "volume")
    options = kept.setdefault("DriverOpts", {})
    if options:
        need(options, tuple(_BIND), "DriverOpts")
    return WantedVolume(kept | {"Driver": "local"}, options.get("device"))


def judge_network(policy: Policy, body: Json) -> Json:
    """Raises `Refused`."""
    kept = record(
        body,
        {
            "Name": text(own_network(policy)),
            "Driver": one_of("bridge"),
            "IPAM": shaped({"Driver": one_of("default"), "Config": texts(shaped({"Subnet": _subnet(policy)}), 1)}),
            "Labels": own_labels(policy),
            "CheckDuplicate": boolean,
            "Internal": boolean,
        },
        "",
    )
    need(kept, ("Name", "Driver", "IPAM", "Labels"), "network")
    if not kept["IPAM"].get("Config") or "Subnet" not in kept["IPAM"]["Config"][0]:
        raise Refused("IPAM.Config must have a subnet")
    return kept | {"CheckDuplicate": True, "EnableIPv6": False}


def own_network(policy: Policy) -> str:
    """The pattern of the stack's network names."""
    return rf"{re.escape(policy.stack)}-net-{REF}"


def is_plain(volume: Json) -> bool:
    """Whether a volume is a folder of the engine's own."""
    return volume.get("Driver") == "local" and not volume.get("Options")


def _subnet(policy: Policy) -> Rule:
    def rule(value: Any, where: str) -> str:
        try:
            subnet = ipaddress.IPv4Network(cast("str", text(r"[0-9./]+", 18)(value, where)))
        except ValueError as error:
            raise Refused(f"{where} is no IPv4 network", 400) from error
        if not subnet.subnet_of(policy.subnet_pool) or not _SHORTEST_PREFIX <= subnet.prefixlen <= _LONGEST_PREFIX:
            raise Refused(f"{where} must be a small network of {policy.subnet_pool}")
        return str(subnet)

    return rule
