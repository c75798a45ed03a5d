"""Images and sizes that this deployment's manager offers for sandboxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxConfiguration:
    """The image and size of a session's sandbox, by the names of the choices; None is the default."""

    image: str | None = None
    size: str | None = None


USUAL = SandboxConfiguration()


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSize:
    """The resources of a sandbox; a disk of 0 has no limit."""

    cpus: float
    memory_mb: int
    disk_mb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageChoice:
    """An image to choose; one that is not `available` has the reason."""

    name: str
    available: bool
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeChoice:
    """A size to choose. A sandbox of it counts as several in the limits on how many there may be."""

    name: str
    size: SandboxSize
    counts_as: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxChoices:
    """The choices that the deployment allows beside the default."""

    default_size: SandboxSize
    images: Sequence[ImageChoice]
    sizes: Sequence[SizeChoice]

    def image(self, name: str) -> ImageChoice | None:
        """The image of this name, or None if it is not allowed."""
        return next((one for one in self.images if one.name == name), None)

    def size(self, name: str) -> SizeChoice | None:
        """The size of this name, or None if it is not allowed."""
        return next((one for one in self.sizes if one.name == name), None)
