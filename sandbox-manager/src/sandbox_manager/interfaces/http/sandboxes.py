"""Routes of `/sandboxes`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response

from contracts.identifiers import NAME, SANDBOX_ID
from contracts.sandboxes import CreateSandbox, EndpointToken, Sandbox, SandboxList, TokenRequest
from sandbox_manager.interfaces.http.service_token import require_service_token
from sandbox_manager.interfaces.http.to_wire import to_wire
from sandbox_manager.interfaces.http.use_cases import Wired

_MAX_WAIT_MS = 120_000
_Owner = Annotated[str | None, Query(pattern=NAME)]
_SandboxId = Annotated[str, Path(pattern=SANDBOX_ID)]

_REFUSED: dict[int | str, dict[str, Any]] = {409: {}}

router = APIRouter(prefix="/sandboxes", tags=["sandboxes"], dependencies=[Depends(require_service_token)])


@router.post("", status_code=201, responses={200: {"model": Sandbox}})
async def create(body: CreateSandbox, wired: Wired, response: Response) -> Sandbox:
    """Give a session its one sandbox; 200 when it already has one. It waits in line while there is no room, or
    its user has as many running as allowed. An image or a size that is not one of GET /choices is refused."""
    created = await wired.create(body.session_id, body.user_id, image=body.image or "", size=body.size or "")
    if not created.is_new:
        response.status_code = 200
    return to_wire(created.sandbox, await wired.get.place_in_line(created.sandbox))


@router.get("")
async def list_(wired: Wired, user_id: _Owner = None, session_id: _Owner = None) -> SandboxList:
    """The newest sandbox of each session that matches."""
    found = await wired.list(user_id=user_id, session_id=session_id)
    return SandboxList(items=[to_wire(one) for one in found])


@router.get("/{sandbox_id}")
async def get(
    sandbox_id: _SandboxId, wired: Wired, wait_ms: Annotated[int, Query(ge=0, le=_MAX_WAIT_MS)] = 0
) -> Sandbox:
    """One sandbox; with `wait_ms` once it left `starting` or `queued`, or at the deadline."""
    sandbox = await wired.get(sandbox_id, wait_ms / 1000)
    return to_wire(sandbox, await wired.get.place_in_line(sandbox))


@router.post("/{sandbox_id}/renew", responses=_REFUSED)
async def renew(sandbox_id: _SandboxId, wired: Wired) -> Sandbox:
    """Count as activity in the sandbox."""
    sandbox = await wired.renew(sandbox_id)
    return to_wire(sandbox, await wired.get.place_in_line(sandbox))


@router.post("/{sandbox_id}/pause", responses=_REFUSED)
async def pause(sandbox_id: _SandboxId, wired: Wired) -> Sandbox:
    """Hold it still until it is used: by a token, by renew or by resume. Idempotent."""
    return to_wire(await wired.pause(sandbox_id))


@router.post("/{sandbox_id}/resume", responses=_REFUSED)
async def resume(sandbox_id: _SandboxId, wired: Wired) -> Sandbox:
    """Let a paused sandbox go on, or wait in line while there is no room. Idempotent."""
    sandbox = await wired.resume(sandbox_id)
    return to_wire(sandbox, await wired.get.place_in_line(sandbox))


@router.post("/{sandbox_id}/tokens", status_code=201, responses=_REFUSED)
async def mint(sandbox_id: _SandboxId, body: TokenRequest, wired: Wired) -> EndpointToken:
    """A short-lived endpoint token and the endpoint's address."""
    scopes = [scope.value for scope in dict.fromkeys(body.scopes)]
    minted = await wired.mint(sandbox_id, scopes, timedelta(seconds=body.ttl_s))
    return EndpointToken(
        token=minted.token,
        expires_at=minted.expires_at,
        endpoint=minted.endpoint,
        sandbox_id=minted.identity.sandbox_id,
        generation=minted.identity.generation,
    )


@router.delete("/{sandbox_id}", status_code=204)
async def delete(
    sandbox_id: _SandboxId, wired: Wired, *, keep_workspace: bool = True, only_queued: bool = False
) -> None:
    """Remove it, also in the middle of its start; 204 also if there is none. Its files stay for the session's next
    sandbox, unless `keep_workspace` is false. `only_queued`: unless it got its turn."""
    await wired.delete(sandbox_id, keep_workspace=keep_workspace or only_queued, only_queued=only_queued)
