"""One-use tickets in Redis."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict

from backend_api.computers.domain import ScreenTicket
from backend_api.kit.errors import UnavailableError
from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.failures import ERRORS, count_failure


class RedisTickets:
    """`Tickets`: SET with an expiry, GETDEL once."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def issue(self, ticket: ScreenTicket, *, ttl_s: int) -> str:
        """A secret that stands for the ticket."""
        secret = secrets.token_urlsafe(32)
        try:
            with count_failure():
                await self._redis.set(f"ticket:{secret}", json.dumps(asdict(ticket)), ex=ttl_s)
        except ERRORS as error:
            raise UnavailableError("Tickets can't be issued right now. Try again in a moment.") from error
        return secret

    async def redeem(self, secret: str) -> ScreenTicket | None:
        """The ticket the first time, None afterwards."""
        try:
            with count_failure():
                found: bytes | None = await self._redis.getdel(f"ticket:{secret}")
        except ERRORS:
            return None
        return ScreenTicket(**json.loads(found)) if found else None
