"""Tries that wait before their password is looked at: so many at once, shared fairly among those who make them."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field

from backend_api.kit.errors import LimitError

WAITING_MOST = 200
"""So many of one process; they also bound how many passwords are looked at in a second."""

_Try = asyncio.Future[None]


@dataclass(slots=True)
class DelayedAttempts:
    """Nobody's try is looked at before its pause is over, however many there are.

    Where all places are taken, whoever holds the most of them loses the latest, unless that is who comes.
    """

    most: int = WAITING_MOST
    _of: dict[str, list[_Try]] = field(default_factory=dict[str, list[_Try]], init=False)
    _count: int = field(default=0, init=False)

    async def wait(self, who: str, pause_s: float) -> None:
        """Wait for `pause_s`. Raises `LimitError` when the place is needed for somebody else, or there is none."""
        if pause_s <= 0:
            return
        if self._count >= self.most:
            self._make_room(who, pause_s)
        place: _Try = asyncio.get_running_loop().create_future()
        self._of.setdefault(who, []).append(place)
        self._count += 1
        try:
            await asyncio.wait((place,), timeout=pause_s)
            if place.done():
                raise _refusal(pause_s)
        finally:
            self._remove(who, place)

    def _make_room(self, who: str, pause_s: float) -> None:
        busiest = max(self._of, key=lambda name: len(self._of[name]))
        if len(self._of[busiest]) <= len(self._of.get(who, ())) + 1:
            raise _refusal(pause_s)
        latest = self._of[busiest][-1]
        latest.set_result(None)
        self._remove(busiest, latest)

    def _remove(self, who: str, place: _Try) -> None:
        mine = self._of.get(who, [])
        if place in mine:
            mine.remove(place)
            self._count -= 1
            if not mine:
                del self._of[who]


def _refusal(pause_s: float) -> LimitError:
    return LimitError("Too many login attempts at once. Try again in a moment.", retry_after_s=math.ceil(pause_s))
