"""Options of the Docker runtime."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.sandbox_profile import SandboxProfile

_LABEL = "label:"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointClients:
    """Containers that are connected to every sandbox's network: those named, and those that carry all of the labels."""

    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> EndpointClients:
        """Parse `gateway-1,gateway-2`, or `label:a=b,c=d` for containers that carry both labels."""
        parts = [one.strip().removeprefix(_LABEL) for one in text.split(",") if one.strip()]
        return cls(
            names=tuple(one for one in parts if "=" not in one), labels=tuple(one for one in parts if "=" in one)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerOptions:
    """Options of every sandbox's container. `host_fib_trie` names the addresses of the engine's host."""

    stack: str
    image: str
    seccomp_profile: Path
    subnet_pool: str
    blocked_subnets: tuple[str, ...]
    host_fib_trie: Path
    endpoint_clients: EndpointClients
    inside: SandboxProfile
