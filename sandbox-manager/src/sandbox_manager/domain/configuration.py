"""Images and sizes of sandboxes: the default, and what a deployment allows beside it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox_manager.domain.errors import ImageNotAllowedError, SizeNotAllowedError

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,30}")
_IMAGE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.:/@-]{0,254}")
_LEAST_MEMORY_MB = 64
DEFAULT = "default"
"""A reserved name: nothing else may have the default's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A sandbox's share of the machine; a disk of 0 means no limit."""

    cpus: float
    memory_mb: int
    disk_mb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The image and size of one sandbox, by the chosen names and their values at that time; empty and None mean the
    default. `places` is the number of default-size sandboxes it counts as, by its memory."""

    image_name: str = ""
    size_name: str = ""
    image: str = ""
    size: Size | None = None
    places: int = 1

    @property
    def is_default(self) -> bool:
        """Whether sandboxes of the pool have the same configuration."""
        return not self.image_name and not self.size_name


STANDARD = Configuration()


@dataclass(frozen=True, slots=True, kw_only=True)
class Configurations:
    """The configurations that the deployment allows: images and sizes by name; `standard` is the default size."""

    standard: Size
    image: str = ""
    images: Mapping[str, str] = field(default_factory=dict[str, str])
    sizes: Mapping[str, Size] = field(default_factory=dict[str, Size])

    def choose(self, image: str, size: str) -> Configuration:
        """The configuration by its names, empty for the default. Raises `ImageNotAllowedError`,
        `SizeNotAllowedError`."""
        if image and image not in self.images:
            raise ImageNotAllowedError.of(image, self.images)
        if size and size not in self.sizes:
            raise SizeNotAllowedError.of(size, self.sizes)
        chosen = self.sizes.get(size)
        return Configuration(
            image_name=image,
            size_name=size,
            image=self.images.get(image, ""),
            size=chosen,
            places=self.places(chosen) if chosen is not None else 1,
        )

    def places(self, size: Size) -> int:
        """The number of default-size sandboxes with as much memory."""
        return max(1, math.ceil(size.memory_mb / self.standard.memory_mb))


def parse_images(text: str) -> dict[str, str]:
    """`python=agent-sandbox:py,full=agent-sandbox:latest`. Raises `ValueError`."""
    images = _named(text)
    for name, image in images.items():
        if not _IMAGE.fullmatch(image):
            raise ValueError(f"{name}: '{image}' is not an image name, such as agent-sandbox:latest")
    return images


def parse_sizes(text: str, *, disk_mb: int) -> dict[str, Size]:
    """`small=1:1024,large=4:8192:20480`: processors, memory and disk in MB; `disk_mb` if none is given. Raises
    `ValueError`."""
    return {name: _size(name, given, disk_mb) for name, given in _named(text).items()}


def _size(name: str, given: str, disk_mb: int) -> Size:
    try:
        cpus, memory, *disk = given.split(":")
        if len(disk) > 1:
            raise ValueError
        size = Size(cpus=float(cpus), memory_mb=int(memory), disk_mb=int(disk[0]) if disk else disk_mb)
    except ValueError:
        raise ValueError(f"{name}: '{given}' is not of the form processors:memory in MB[:disk in MB]") from None
    if not (0 < size.cpus <= 1024) or size.memory_mb < _LEAST_MEMORY_MB or size.disk_mb < 0:
        raise ValueError(f"{name}: processors must be above 0, memory at least {_LEAST_MEMORY_MB} MB, disk not below 0")
    return size


def _named(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in (one.strip() for one in text.split(",")):
        if not part:
            continue
        name, equals, value = (one.strip() for one in part.partition("="))
        if not equals or not value or not _NAME.fullmatch(name):
            raise ValueError(f"'{part}' is not of the form name=value, with a name of small letters, digits, . _ and -")
        if name == DEFAULT or name in found:
            raise ValueError(f"the name '{name}' is {'kept for the default' if name == DEFAULT else 'there twice'}")
        found[name] = value
    return found
