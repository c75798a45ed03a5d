"""Issue a one-use ticket to watch or use the screen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend_api.computers.domain import ScreenMode, ScreenTicket, Tickets
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.application.limits import Limits
from backend_api.identity.domain.entity import AccessClaims
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId

TICKET_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedTicket:
    """The ticket's secret and expiry."""

    secret: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class IssueTicket:
    """Raises `SessionNotFoundError`, `LimitError`, `UnavailableError`."""

    sessions: SessionRepository
    tickets: Tickets
    limiter: RateLimiter
    limits: Limits

    async def __call__(
        self, session_id: SessionId, claims: AccessClaims, mode: ScreenMode, client: str = ""
    ) -> IssuedTicket:
        user_id = claims.user_id
        await self.sessions.get(session_id, user_id)
        await self.limiter.hit(f"tickets:{user_id}", limit=self.limits.tickets_per_minute, window_s=60)
        expires_at = datetime.now(UTC) + timedelta(seconds=TICKET_S)
        ticket = ScreenTicket(
            user_id=user_id,
            session_id=session_id,
            mode=mode,
            family=claims.family,
            token_version=claims.token_version,
            expires_at=claims.expires_at,
            client=client,
        )
        return IssuedTicket(secret=await self.tickets.issue(ticket, ttl_s=TICKET_S), expires_at=expires_at)
