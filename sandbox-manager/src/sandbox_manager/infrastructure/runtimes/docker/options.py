"""Options of the Docker runtime."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.sandbox_profile import SandboxProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerOptions:
    """Options of every sandbox's container. `host_fib_trie` names the addresses of the engine's host."""

    stack: str
    image: str
    seccomp_profile: Path
    subnet_pool: str
    blocked_subnets: tuple[str, ...]
    host_fib_trie: Path
    inside: SandboxProfile
