"""The images and sizes of sandboxes here, and whether they can be used."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sandbox_manager.domain.configuration import Configurations, Size
from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.ports import RuntimeHost

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageChoice:
    """An image by its name; `trouble` is why it can't be used now, and what to do about it."""

    name: str
    image: str
    trouble: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeChoice:
    """A size by its name, and the number of sandboxes it counts as."""

    name: str
    size: Size
    places: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The choices beside the default."""

    standard: Size
    images: list[ImageChoice]
    sizes: list[SizeChoice]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChoices:
    """Reads the choices that the deployment allows, with the images as the engine has them now."""

    configurations: Configurations
    runtime: RuntimeHost

    async def __call__(self) -> Choices:
        images = [
            ImageChoice(name=name, image=image, trouble=await self._trouble(image))
            for name, image in self.configurations.images.items()
        ]
        sizes = [
            SizeChoice(name=name, size=size, places=self.configurations.places(size))
            for name, size in self.configurations.sizes.items()
        ]
        return Choices(standard=self.configurations.standard, images=images, sizes=sizes)

    async def log_missing(self) -> None:
        """Log the configured images that can't be used, for the operator."""
        for one in (await self()).images:
            if one.trouble is not None:
                _log.warning(
                    "an image of SANDBOX_IMAGES can't be used", extra={"image": one.name, "reason": one.trouble}
                )

    async def _trouble(self, image: str) -> str | None:
        try:
            return await self.runtime.image_trouble(image)
        except EngineUnavailableError as error:
            return error.detail
