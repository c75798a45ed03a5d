"""Route of the images and sizes of sandboxes."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from contracts.sandboxes import ImageChoice, SandboxChoices, SandboxSize, SizeChoice
from sandbox_manager.domain.configuration import Size
from sandbox_manager.interfaces.http.service_token import require_service_token
from sandbox_manager.interfaces.http.use_cases import Wired

router = APIRouter(tags=["sandboxes"], dependencies=[Depends(require_service_token)])


@router.get("/choices")
async def choices(wired: Wired) -> SandboxChoices:
    """The images and sizes that the deployment allows beside the default, and which of the images are there."""
    found = await wired.choices()
    return SandboxChoices(
        default_size=_to_wire(found.standard),
        images=[
            ImageChoice(name=one.name, image=one.image, available=one.trouble is None, reason=one.trouble)
            for one in found.images
        ],
        sizes=[SizeChoice(name=one.name, size=_to_wire(one.size), counts_as=one.places) for one in found.sizes],
    )


def _to_wire(size: Size) -> SandboxSize:
    return SandboxSize(cpus=size.cpus, memory_mb=size.memory_mb, disk_mb=size.disk_mb)
