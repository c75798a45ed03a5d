"""Issue a token for a sandbox's tool API endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sandbox_manager.application import measures
from sandbox_manager.application.renew_sandbox import RenewSandbox
from sandbox_manager.domain.errors import SandboxNotFoundError, SandboxNotReadyError, SandboxOverError
from sandbox_manager.domain.ports import Clock, SandboxRecords, TokenKeys
from sandbox_manager.domain.sandbox import Identity, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class MintedToken:
    """A signed token and the address of the endpoint it is for."""

    token: str
    expires_at: datetime
    endpoint: str
    identity: Identity


@dataclass(frozen=True, slots=True)
class MintToken:
    """Sign a short-lived token for a ready sandbox, resumed if it was paused; asking counts as activity.

    Raises `SandboxNotFoundError`, `SandboxNotReadyError`, `SandboxBusyError`, `EngineUnavailableError`.
    """

    registry: SandboxRecords
    keys: TokenKeys
    clock: Clock
    renew: RenewSandbox

    async def __call__(self, sandbox_id: str, scopes: list[str], ttl: timedelta) -> MintedToken:
        sandbox = await self.registry.get(sandbox_id)
        if sandbox is None:
            raise SandboxNotFoundError
        if sandbox.status not in (Status.READY, Status.PAUSED) or sandbox.endpoint is None:
            raise SandboxNotReadyError(f"The sandbox is {sandbox.status.value}; its endpoint does not answer yet.")
        try:
            sandbox = await self.renew(sandbox_id, known=sandbox)
        except SandboxOverError as error:
            raise SandboxNotReadyError("The sandbox has just ended; create it again.") from error
        if sandbox.status is not Status.READY:
            raise SandboxNotReadyError(
                "There is not enough free memory to wake the sandbox, or its user has too many running; it is queued."
            )
        measures.TOKENS.inc()
        now = self.clock.now()
        expires_at = now + ttl
        return MintedToken(
            token=self.keys.sign(sandbox.identity, scopes, now, expires_at),
            expires_at=expires_at,
            endpoint=sandbox.endpoint or "",
            identity=sandbox.identity,
        )
