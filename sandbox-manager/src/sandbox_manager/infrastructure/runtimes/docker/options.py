"""What the Docker runtime is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.inside import Inside


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerOptions:
    """`door_clients` are containers, by name or as `label=value`, that get a leg in every sandbox's network."""

    stack: str
    image: str
    seccomp_profile: Path
    subnet_pool: str
    door_clients: tuple[str, ...]
    inside: Inside
