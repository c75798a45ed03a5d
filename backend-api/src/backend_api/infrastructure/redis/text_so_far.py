"""The text being written right now, kept in Redis for readers who come late."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from backend_api.infrastructure.redis.client import Redis

TTL_S = 3600
MAX_KEPT = 400_000

# A piece has two KEYS: index of the session (hash), text; and six ARGV after the ttl: field, meta as JSON, expected
# bytes, piece, channel, message. Answers 1 for each that continued its text, 0 where the whole must be set first.
_APPEND = """
local answers = {}
for piece = 1, #KEYS / 2 do
  local index, text, at = KEYS[2 * piece - 1], KEYS[2 * piece], 6 * piece - 5
  local fits = redis.call('STRLEN', text) == tonumber(ARGV[at + 3])
  if fits then
    redis.call('APPEND', text, ARGV[at + 4])
    redis.call('HSET', index, ARGV[at + 1], ARGV[at + 2])
    redis.call('EXPIRE', index, ARGV[1])
    redis.call('EXPIRE', text, ARGV[1])
  end
  redis.call('PUBLISH', ARGV[at + 5], ARGV[at + 6])
  answers[piece] = fits and 1 or 0
end
return answers
"""

# KEYS: index of the session. ARGV: channel, message, 1 when nothing is being written any more, fields of ended texts.
_END = """
redis.call('PUBLISH', ARGV[1], ARGV[2])
local ended = ARGV[3] == '1' and redis.call('HKEYS', KEYS[1]) or {}
for field = 4, #ARGV do ended[#ended + 1] = ARGV[field] end
for _, field in ipairs(ended) do
  redis.call('DEL', KEYS[1] .. ':' .. field)
  redis.call('HDEL', KEYS[1], field)
end
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


class _Piece(NamedTuple):
    """On its way to Redis."""

    keys: tuple[str, str]
    args: tuple[str | bytes | int, ...]
    fits: asyncio.Future[bool]


class TextSoFar:
    """Append with the expected length, else set the whole; read all of a session."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._append = redis.register_script(_APPEND)
        self._end = redis.register_script(_END)
        self._waiting: list[_Piece] = []
        self._sending: set[asyncio.Task[None]] = set()

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
        if not await self._send((index, at), (key, meta, expected, encoded, channel, message)):
            whole = encode(text.whole)
            pipeline = self._redis.pipeline(transaction=True)
            pipeline.set(at, whole, ex=TTL_S)
            pipeline.hset(index, key, meta)
            pipeline.expire(index, TTL_S)
            pipeline.publish(channel, whole_message())
            await pipeline.execute()

    async def _send(self, keys: tuple[str, str], args: tuple[str | bytes | int, ...]) -> bool:
        """Whether the piece continued its text. What many runs show in one moment is one call."""
        piece = _Piece(keys, args, asyncio.get_running_loop().create_future())
        self._waiting.append(piece)
        if len(self._waiting) == 1:
            sending = asyncio.create_task(self._send_waiting())
            self._sending.add(sending)
            sending.add_done_callback(self._sending.discard)
        return await piece.fits

    async def _send_waiting(self) -> None:
        pieces, self._waiting = self._waiting, []
        keys = [key for piece in pieces for key in piece.keys]
        try:
            answers = await self._append(keys=keys, args=[TTL_S, *(arg for piece in pieces for arg in piece.args)])
        except Exception as error:  # noqa: BLE001 -- each writer is told what became of its piece
            for piece in pieces:
                if not piece.fits.done():
                    piece.fits.set_exception(error)
        else:
            for piece, fits in zip(pieces, answers, strict=True):
                if not piece.fits.done():
                    piece.fits.set_result(bool(fits))

    async def end(self, session_id: str, keys: list[str], message: bytes, *, is_over: bool) -> None:
        """Tell the readers, and forget texts that are stored now: all when nothing is being written any more."""
        channel = channel_of(session_id)
        if keys or is_over:
            await self._end(keys=[_index(session_id)], args=[channel, message, int(is_over), *keys])
        else:
            await self._redis.publish(channel, message)

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
