"""Pending sign-ins at MCP servers, in Redis."""

from __future__ import annotations

import json

from backend_api.kit.errors import UnavailableError
from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.failures import ERRORS, count_failure
from backend_api.settings.domain.entity import Sealed


class RedisPendingSignIns:
    """`PendingSignIns`: SET with an expiry, GETDEL once."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def keep(self, digest: str, sealed: Sealed, *, ttl_s: int) -> None:
        text = json.dumps({"key_id": sealed.key_id, "text": sealed.text})
        try:
            with count_failure():
                await self._redis.set(f"mcp-sign-in:{digest}", text, ex=ttl_s)
        except ERRORS as error:
            raise UnavailableError("Signing in is not possible right now. Try again in a moment.") from error

    async def take(self, digest: str) -> Sealed | None:
        try:
            with count_failure():
                found: bytes | None = await self._redis.getdel(f"mcp-sign-in:{digest}")
        except ERRORS as error:
            raise UnavailableError("Signing in is not possible right now. Try again in a moment.") from error
        return Sealed(**json.loads(found)) if found else None
