"""Pictures of tools in the form that models are sent, read from the log if they are not cached."""

from __future__ import annotations

import asyncio
import base64
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from backend_api.agent.pictures import MAX_PICTURE_BYTES, MAX_RATIO, MAX_SIDE, MIN_SIDE, Image, Picture
from backend_api.conversations.domain.errors import EventBodyNotFoundError
from backend_api.conversations.ports import EventLog
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.picture_heads import sides_of

KEPT_CHARACTERS = 32_000_000
KEPT_S = 300.0
AT_ONCE = 4
"""How many bodies a process reads at the same time."""

_Key = tuple[SessionId, Picture]


class PictureCache:
    """Keeps the pictures used last, bounded by size and age. It is only a cache: the log has them all."""

    def __init__(
        self,
        at_most: int = KEPT_CHARACTERS,
        *,
        for_s: float = KEPT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._at_most = at_most
        self._for_s = for_s
        self._clock = clock
        self._kept: OrderedDict[_Key, tuple[Image | None, float]] = OrderedDict()
        self._weight = 0
        self._reading = asyncio.Semaphore(AT_ONCE)

    def of(self, session_id: SessionId, log: EventLog) -> SessionPictures:
        """The pictures of one session."""
        return SessionPictures(session_id, log, self)

    async def get(self, session_id: SessionId, picture: Picture, log: EventLog) -> Image | None:
        """Return a picture, or None if it is missing or can't be sent."""
        known = self._pop_fresh((session_id, picture))
        if known is None:
            async with self._reading:
                known = (await _read(session_id, picture, log), self._clock())
        self._cache((session_id, picture), known)
        return known[0]

    def _pop_fresh(self, key: _Key) -> tuple[Image | None, float] | None:
        found = self._kept.pop(key, None)
        self._weight -= _weight(found)
        return found if found is not None and found[1] >= self._clock() - self._for_s else None

    def _cache(self, key: _Key, found: tuple[Image | None, float]) -> None:
        self._pop_fresh(key)
        self._kept[key] = found
        self._weight += _weight(found)
        while self._kept and (self._weight > self._at_most or self._is_old(next(iter(self._kept)))):
            self._weight -= _weight(self._kept.popitem(last=False)[1])

    def _is_old(self, key: _Key) -> bool:
        return self._kept[key][1] < self._clock() - self._for_s


@dataclass(frozen=True, slots=True)
class SessionPictures:
    """`Pictures` of one session."""

    session_id: SessionId
    log: EventLog
    cache: PictureCache

    async def load(self, pictures: Sequence[Picture]) -> Mapping[Picture, Image]:
        """Load pictures; missing ones are left out. Raises `UnavailableError` if the store can't be reached."""
        found = await asyncio.gather(*(self.cache.get(self.session_id, one, self.log) for one in pictures))
        return {picture: image for picture, image in zip(pictures, found, strict=True) if image is not None}


def is_sendable(picture: Picture, content: bytes) -> bool:
    """Whether the bytes are complete and of a picture type that providers accept."""
    if len(content) != picture.size or picture.size > MAX_PICTURE_BYTES or (found := sides_of(content)) is None:
        return False
    media_type, *sides = found
    shorter, longer = sorted(sides)
    return media_type == picture.media_type and shorter >= MIN_SIDE and longer <= min(MAX_SIDE, MAX_RATIO * shorter)


async def _read(session_id: SessionId, picture: Picture, log: EventLog) -> Image | None:
    try:
        content = (await log.body(session_id, picture.seq)).content
    except EventBodyNotFoundError:
        return None
    if picture.offset is not None:
        content = content[picture.offset : picture.offset + picture.size]
    if not is_sendable(picture, content):
        return None
    return Image(media_type=picture.media_type, base64=base64.b64encode(content).decode("ascii"))


def _weight(found: tuple[Image | None, float] | None) -> int:
    image = found[0] if found is not None else None
    return 500 + len(image.base64) if image is not None else (500 if found is not None else 0)
