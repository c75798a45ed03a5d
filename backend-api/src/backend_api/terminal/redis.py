"""One-use tickets of terminals in Redis."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict

from backend_api.kit.errors import UnavailableError
from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.failures import ERRORS, count_failure
from backend_api.terminal.domain import TerminalTicket


class RedisTerminalTickets:
    """`TerminalTickets`: SET with an expiry, GETDEL once."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def issue(self, ticket: TerminalTicket, *, ttl_s: int) -> str:
        secret = secrets.token_urlsafe(32)
        try:
            with count_failure():
                await self._redis.set(f"terminal-ticket:{secret}", json.dumps(asdict(ticket)), ex=ttl_s)
        except ERRORS as error:
            raise UnavailableError("Tickets can't be issued right now. Try again in a moment.") from error
        return secret

    async def redeem(self, secret: str) -> TerminalTicket | None:
        try:
            with count_failure():
                found: bytes | None = await self._redis.getdel(f"terminal-ticket:{secret}")
        except ERRORS:
            return None
        return TerminalTicket(**json.loads(found)) if found else None
