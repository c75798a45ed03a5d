"""The policy: names of this stack, and the share of the machine its containers may have. Read once, from the
environment."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from engine_filter.strict_json import Json

STACK_LABEL = "agent-sandbox.stack"
ENDPOINT_LABEL = "agent-sandbox.door-client"
SAME_AS_LABEL = "agent-sandbox.same-as"
LABEL_PREFIX = "agent-sandbox."
_MIB = 1024 * 1024
_LEAST_BYTES = 256 * _MIB
_LEAST_PIDS = 16
"""The containers beside a sandbox need that much, however small sandboxes are."""


class SettingsError(Exception):
    """The start is refused; says which setting is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings that the judging functions check against."""

    stack: str
    images: frozenset[str]
    seccomp: Json
    subnet_pool: ipaddress.IPv4Network
    memory_bytes: int
    nano_cpus: int
    pids: int

    def is_own(self, labels: Any) -> bool:
        """Whether labels are those of this stack's sandboxes, their networks, workspaces and helpers."""
        return isinstance(labels, dict) and cast("Json", labels).get(STACK_LABEL) == self.stack

    def is_endpoint_client(self, labels: Any) -> bool:
        """Whether a container is one that gets a leg in the sandboxes' networks."""
        return isinstance(labels, dict) and cast("Json", labels).get(ENDPOINT_LABEL) == self.stack


def read_policy(environ: Mapping[str, str]) -> Policy:
    """The manager's own settings, by the same names and with the same defaults. Raises `SettingsError`."""
    stack = environ.get("COMPOSE_PROJECT_NAME") or "agent"
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,30}", stack):
        raise SettingsError("COMPOSE_PROJECT_NAME: must be small letters, digits, - and _, at most 31.")
    sizes = _sizes(environ)
    most_memory = [_number(environ, "SANDBOX_MEMORY_MB", 2048), *(memory for _, memory in sizes)]
    most_cpus = [_number(environ, "SANDBOX_CPUS", 2.0), *(cpus for cpus, _ in sizes)]
    return Policy(
        stack=stack,
        images=frozenset({environ.get("SANDBOX_IMAGE") or "agent-sandbox:latest", *_images(environ)}),
        seccomp=_seccomp(Path(environ.get("SANDBOX_SECCOMP_PROFILE") or "sandbox-image/seccomp.json")),
        subnet_pool=_pool(environ.get("SANDBOX_SUBNET_POOL") or "10.201.0.0/16"),
        memory_bytes=max(int(max(most_memory)) * _MIB, _LEAST_BYTES),
        nano_cpus=int(max(most_cpus) * 1_000_000_000),
        pids=max(int(_number(environ, "SANDBOX_PIDS", 512)), _LEAST_PIDS),
    )


def _images(environ: Mapping[str, str]) -> list[str]:
    """Images of `SANDBOX_IMAGES`, which the manager reads too."""
    return [image.strip() for _, _, image in _pairs(environ, "SANDBOX_IMAGES")]


def _sizes(environ: Mapping[str, str]) -> list[tuple[float, float]]:
    """Processors and memory in MB of the sizes of `SANDBOX_SIZES`."""
    found: list[tuple[float, float]] = []
    for _, _, size in _pairs(environ, "SANDBOX_SIZES"):
        try:
            cpus, memory = (float(one) for one in size.split(":")[:2])
        except ValueError as error:
            raise SettingsError("SANDBOX_SIZES: must be of the form name=processors:memory in MB.") from error
        if not (0 < cpus < 2**20 and 0 < memory < 2**31):
            raise SettingsError("SANDBOX_SIZES: processors and memory must be above 0.")
        found.append((cpus, memory))
    return found


def _pairs(environ: Mapping[str, str], name: str) -> list[tuple[str, str, str]]:
    pairs = [one.partition("=") for one in environ.get(name, "").split(",") if one.strip()]
    if any(not value.strip() for _, _, value in pairs):
        raise SettingsError(f"{name}: must be of the form name=value,name=value.")
    return pairs


def _number(environ: Mapping[str, str], name: str, default: float) -> float:
    try:
        number = float(environ.get(name) or default)
    except ValueError as error:
        raise SettingsError(f"{name}: must be a number.") from error
    if not 0 < number < 2**31:
        raise SettingsError(f"{name}: must be above 0.")
    return number


def _pool(given: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(given)
    except ValueError as error:
        raise SettingsError("SANDBOX_SUBNET_POOL: must be a network such as 10.201.0.0/16.") from error


def _seccomp(path: Path) -> Json:
    try:
        return cast("Json", json.loads(path.read_text()))
    except (OSError, ValueError) as error:
        raise SettingsError(f"SANDBOX_SECCOMP_PROFILE: {path} can't be read.") from error
