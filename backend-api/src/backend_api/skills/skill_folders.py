"""`SkillFolders` over the endpoint: one PUT per skill."""

from __future__ import annotations

from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.tool_api.endpoint_faults import endpoint_faults
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.problems import error_of
from service_kit.bounded_http import Bounds

SCOPES = (Scope.FILES,)
PUT = Bounds(body_bytes=64 * 1024, head_s=30.0, whole_s=40.0)
_ATTEMPTS = 2


class ToolApiSkillFolders:
    """Uploads to sandboxes. Only the status of the answer is used."""

    def __init__(self, endpoints: Endpoints, bounds: Bounds = PUT) -> None:
        self._endpoints = endpoints
        self._bounds = bounds

    async def put(self, sandbox: Sandbox, name: str, archive: bytes) -> None:
        headers = {"Content-Type": "application/zip"}
        for _ in range(_ATTEMPTS):
            async with (
                endpoint_faults(
                    self._endpoints,
                    sandbox,
                    refused="The computer's response was malformed.",
                    broken="The connection to the computer was lost.",
                ),
                self._endpoints.open(sandbox, SCOPES) as endpoint,
                endpoint.stream("PUT", f"/skills/{name}", self._bounds, headers=headers, content=archive) as answer,
            ):
                if answer.status == 401:
                    self._endpoints.refuse(sandbox)
                    continue
                if not answer.is_success:
                    raise error_of(answer.status, await answer.problem())
                return
        raise SandboxUnavailableError("The computer refuses the connection.")
