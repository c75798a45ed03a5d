"""`ReadChoices` from the sandbox manager over its REST contract."""

from __future__ import annotations

from backend_api.sandboxes.domain.choices import ImageChoice, SandboxChoices, SandboxSize, SizeChoice
from backend_api.sandboxes.manager.rest import ask_manager, parse, raise_for
from contracts import sandboxes as wire
from service_kit.bounded_http import BoundedHttp


class ManagerChoices:
    """Reads the choices each time: the operator may have built an image meanwhile."""

    def __init__(self, http: BoundedHttp) -> None:
        self._http = http

    async def __call__(self) -> SandboxChoices:
        response = await ask_manager(self._http, "GET", "/choices", reach_for_s=0.0)
        raise_for(response)
        found = parse(wire.SandboxChoices, response)
        return SandboxChoices(
            default_size=_size(found.default_size),
            images=[ImageChoice(name=one.name, available=one.available, reason=one.reason) for one in found.images],
            sizes=[SizeChoice(name=one.name, size=_size(one.size), counts_as=one.counts_as) for one in found.sizes],
        )


def _size(size: wire.SandboxSize) -> SandboxSize:
    return SandboxSize(cpus=size.cpus, memory_mb=size.memory_mb, disk_mb=size.disk_mb)
