"""Issuing an address that opens a port in a browser; it is valid for a minute."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend_api.conversations.ports import SessionRepository
from backend_api.identity.application.limits import Limits
from backend_api.identity.domain.entity import AccessClaims
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId
from backend_api.previews.application.open_port import PreviewPolicy
from backend_api.previews.domain.entity import PortId, PreviewGrant
from backend_api.previews.domain.errors import PortNotFoundError
from backend_api.previews.ports import OpenedPorts, PreviewTokens


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedAddress:
    """The secret part of the address, and its expiry."""

    token: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueAddress:
    """Bound to port, user and log-in. Raises `SessionNotFoundError`, `PortNotFoundError`, `PortsOffError`,
    `LimitError`."""

    sessions: SessionRepository
    ports: OpenedPorts
    tokens: PreviewTokens
    policy: PreviewPolicy
    limiter: RateLimiter
    limits: Limits

    async def __call__(self, session_id: SessionId, claims: AccessClaims, port_id: PortId) -> IssuedAddress:
        await self.sessions.get(session_id, claims.user_id)
        self.policy.check_on()
        opened = (await self.ports.present([port_id])).get(port_id)
        if opened is None or opened.session_id != session_id or opened.user_id != claims.user_id:
            raise PortNotFoundError("This port is not open.")
        await self.limiter.hit(f"previews:{claims.user_id}", limit=self.limits.tickets_per_minute, window_s=60)
        ttl_s = self.policy.address_ttl_s
        token = self.tokens.sign_address(PreviewGrant(port_id=port_id, claims=claims), expires_s=ttl_s)
        return IssuedAddress(token=token, expires_at=datetime.now(UTC) + timedelta(seconds=ttl_s))
