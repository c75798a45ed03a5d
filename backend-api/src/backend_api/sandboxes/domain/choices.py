"""What sandboxes may be made of, as the manager of this deployment says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxConfiguration:
    """What the sandbox of a session is made of, by the names of the choices; None is the default."""

    image: str | None = None
    size: str | None = None


USUAL = SandboxConfiguration()


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSize:
    """How much a sandbox may have; a disk of 0 has no limit."""

    cpus: float
    memory_mb: int
    disk_mb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageChoice:
    """One that is not `available` has the reason."""

    name: str
    available: bool
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeChoice:
    """One of it counts as so many in the limits of how many sandboxes there may be."""

    name: str
    size: SandboxSize
    counts_as: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxChoices:
    """All that the deployment allows beside the default."""

    default_size: SandboxSize
    images: Sequence[ImageChoice]
    sizes: Sequence[SizeChoice]

    def image(self, name: str) -> ImageChoice | None:
        """None where it is not allowed."""
        return next((one for one in self.images if one.name == name), None)

    def size(self, name: str) -> SizeChoice | None:
        """None where it is not allowed."""
        return next((one for one in self.sizes if one.name == name), None)
