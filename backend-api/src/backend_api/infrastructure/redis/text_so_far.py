"""The text being written right now, kept in Redis for readers who come late."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from backend_api.infrastructure.redis.client import Redis

TTL_S = 3600
MAX_KEPT = 400_000

# KEYS: index of the session (hash), text. ARGV: field, meta as JSON, expected bytes, piece, ttl, channel, message.
# Answers 1 when the piece continued the text, 0 when the whole must be set first.
_APPEND = """
local have = redis.call('STRLEN', KEYS[2])
local fits = have == tonumber(ARGV[3])
if fits then
  redis.call('APPEND', KEYS[2], ARGV[4])
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[5])
  redis.call('EXPIRE', KEYS[2], ARGV[5])
end
redis.call('PUBLISH', ARGV[6], ARGV[7])
return fits and 1 or 0
"""


def encode(text: str) -> bytes:
    """A model may cut a character in two; the halves are kept as they came."""
    return text.encode("utf-8", "surrogatepass")


def channel_of(session_id: str) -> str:
    """Channel of a session's live events."""
    return f"tail:{session_id}"


def _index(session_id: str) -> str:
    return f"text:{session_id}"


@dataclass(slots=True)
class Text:
    """What this process wrote of one text so far."""

    run_id: str
    pieces: list[str] = field(default_factory=list[str])
    characters: int = 0
    size: int = 0

    def append(self, piece: str) -> None:
        self.pieces.append(piece)
        self.characters += len(piece)
        self.size += len(encode(piece))

    @property
    def whole(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class KeptText:
    """A text as found in Redis."""

    key: str
    run_id: str
    text: str


class TextSoFar:
    """Append with the expected length, else set the whole; read all of a session."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._append = redis.register_script(_APPEND)

    async def add(
        self, session_id: str, key: str, text: Text, piece: str, message: bytes, whole_message: Callable[[], bytes]
    ) -> None:
        """Keep the last piece of a text and tell the readers, in one round trip as long as nothing was lost.

        When something was, the whole is kept and told again: some readers may have missed what came before the piece.
        """
        index, at = _index(session_id), f"{_index(session_id)}:{key}"
        encoded = encode(piece)
        meta = json.dumps({"run_id": text.run_id})
        channel = channel_of(session_id)
        expected = text.size - len(encoded)
        if text.characters > MAX_KEPT:
            await self._redis.publish(channel, message)
            return
        fits = await self._append(keys=[index, at], args=[key, meta, expected, encoded, TTL_S, channel, message])
        if not fits:
            whole = encode(text.whole)
            pipeline = self._redis.pipeline(transaction=True)
            pipeline.set(at, whole, ex=TTL_S)
            pipeline.hset(index, key, meta)
            pipeline.expire(index, TTL_S)
            pipeline.publish(channel, whole_message())
            await pipeline.execute()

    async def end(self, session_id: str, keys: list[str], message: bytes) -> None:
        """Forget texts that are stored now, and tell the readers."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.publish(channel_of(session_id), message)
        if keys:
            pipeline.hdel(_index(session_id), *keys)
            pipeline.delete(*(f"{_index(session_id)}:{key}" for key in keys))
        await pipeline.execute()

    async def forget_all(self, session_id: str) -> None:
        """Nothing is being written any more."""
        index = _index(session_id)
        keys: list[bytes] = await self._redis.hkeys(index)
        await self._redis.delete(index, *(f"{index}:{key.decode()}" for key in keys))

    async def read(self, session_id: str) -> list[KeptText]:
        """All texts being written."""
        index = _index(session_id)
        found: dict[bytes, bytes] = await self._redis.hgetall(index)
        if not found:
            return []
        keys = [key.decode() for key in found]
        values: list[bytes | None] = await self._redis.mget([f"{index}:{key}" for key in keys])
        return [
            KeptText(key, json.loads(meta)["run_id"], value.decode("utf-8", "surrogatepass"))
            for key, meta, value in zip(keys, found.values(), values, strict=True)
            if value
        ]
