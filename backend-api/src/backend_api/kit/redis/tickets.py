"""One-use tickets in Redis."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict
from typing import Any, Generic, TypeVar

from backend_api.kit.errors import UnavailableError
from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.failures import ERRORS, count_failure

T = TypeVar("T", bound=Any)


class RedisTickets(Generic[T]):
    """Tickets that are dataclasses of `kind`, below `prefix`: SET with an expiry, GETDEL once."""

    def __init__(self, redis: Redis, prefix: str, kind: type[T]) -> None:
        self._redis = redis
        self._prefix = prefix
        self._kind = kind

    async def issue(self, ticket: T, *, ttl_s: int) -> str:
        """A secret that stands for the ticket."""
        secret = secrets.token_urlsafe(32)
        try:
            with count_failure():
                await self._redis.set(f"{self._prefix}:{secret}", json.dumps(asdict(ticket)), ex=ttl_s)
        except ERRORS as error:
            raise UnavailableError("Tickets can't be issued right now. Try again in a moment.") from error
        return secret

    async def redeem(self, secret: str) -> T | None:
        """The ticket the first time, None afterwards."""
        try:
            with count_failure():
                found: bytes | None = await self._redis.getdel(f"{self._prefix}:{secret}")
        except ERRORS:
            return None
        return self._kind(**json.loads(found)) if found else None
