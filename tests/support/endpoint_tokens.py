"""Tokens for the endpoint of a tool API that a test started itself."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from backend_api.sandboxes.domain.entity import Sandbox, Scope
from contracts.sandboxes import EndpointToken
from support.endpoint import RunningEndpoint


class FixedTokens:
    """Endpoint tokens signed here. `stale` gives one refused token first."""

    def __init__(self, endpoint: RunningEndpoint) -> None:
        self._endpoint = endpoint
        self.address = f"unix:{endpoint.socket}"
        self.stale = False
        self.forgotten = 0

    async def token(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        claims = {"exp": 1} if self.stale else {}
        return EndpointToken(
            token=self._endpoint.keys.token(scopes=[scope.value for scope in scopes], **claims),
            expires_at=datetime.now(UTC) + timedelta(seconds=300),
            endpoint=self.address,
            sandbox_id=sandbox.id,
            generation=sandbox.generation,
        )

    def forget(self, sandbox: Sandbox) -> None:
        self.stale = False
        self.forgotten += 1
