"""Log-in attempts that wait before their password is checked: a bounded number, shared fairly among clients."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field

from backend_api.kit.errors import LimitError

WAITING_MOST = 200
"""The most waiting attempts of one process; this also bounds how many passwords are checked in a second."""

_Try = asyncio.Future[None]


@dataclass(slots=True)
class DelayedAttempts:
    """No password is checked before the pause of its attempt is over, however many attempts there are.

    If all places are taken, the client with the most of them loses its latest, unless the newcomer is that client.
    """

    most: int = WAITING_MOST
    _of: dict[str, list[_Try]] = field(default_factory=dict[str, list[_Try]], init=False)
    _count: int = field(default=0, init=False)

    async def wait(self, who: str, pause_s: float) -> None:
        """Wait for `pause_s`. Raises `LimitError` if the place is needed for another client, or there is none."""
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
