"""A bounded fan-out of tasks, none of which stops or delays the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from sandbox_manager.domain.errors import DomainError, SandboxBusyError
from service_kit.amounts import duration_text

_log = logging.getLogger(__name__)

_END_S = 5.0
_MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of work: `key` identifies it, `fields` name it on a log line."""

    key: str
    fields: Mapping[str, object]
    work: Callable[[], Awaitable[object]]


@dataclass(slots=True, kw_only=True)
class FanOut:
    """Does pieces of work, a few at once. One that raises anything is logged and tried again with the next call, after
    the others; one that takes longer than `deadline_s` is cancelled, and its turn is over.

    A call returns when all is done, or after `wait_s`; the rest continues, and later calls skip its pieces meanwhile,
    or with `again` do their own piece once it has ended, without waiting for that. `trouble` is the log message for a
    failed piece. Cancelling a call cancels all pieces, as `aclose` does, and returns when they have ended.
    """

    trouble: str
    at_once: int = 16
    deadline_s: float = 120.0
    wait_s: float = 10.0
    _slots: asyncio.Semaphore = field(init=False)
    _going: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]], init=False)
    _again: dict[str, Piece] = field(default_factory=dict[str, Piece], init=False)
    _failed: dict[str, int] = field(default_factory=dict[str, int], init=False)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.at_once)

    async def __call__(self, pieces: Iterable[Piece], *, again: bool = False) -> None:
        given = list(pieces)
        fresh = sorted(
            (one for one in given if one.key not in self._going), key=lambda one: self._failed.get(one.key, 0)
        )
        if again:
            self._again |= {one.key: one for one in given if one.key in self._going}
        awaited = {self._begin(piece) for piece in fresh}
        if not awaited:
            return
        try:
            _, late = await asyncio.wait(awaited, timeout=self.wait_s)
        except asyncio.CancelledError:
            await self.aclose()
            raise
        if late:
            _log.info("some take longer than the others wait for", extra={"count": len(late)})

    def _begin(self, piece: Piece) -> asyncio.Task[None]:
        task = asyncio.create_task(self._run_in_slot(piece), name=f"turn-{piece.key}")
        self._going[piece.key] = task
        task.add_done_callback(lambda done: self._on_done(piece.key, done))
        return task

    def _on_done(self, key: str, done: asyncio.Task[None]) -> None:
        del self._going[key]
        piece = self._again.pop(key, None)
        if piece is not None and not done.cancelled():
            self._begin(piece)

    async def aclose(self) -> None:
        """Cancel the running pieces, and wait up to 5 s until they have ended; running out of time is logged."""
        self._again.clear()
        tasks = list(self._going.values())
        for task in tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_END_S)
            if late:
                _log.error("some can't be cancelled", extra={"tasks": ", ".join(task.get_name() for task in late)})

    async def _run_in_slot(self, piece: Piece) -> None:
        async with self._slots:
            task = asyncio.create_task(self._logged(piece), name=f"tend-{piece.key}")
            try:
                await asyncio.wait({task}, timeout=self.deadline_s)
            except asyncio.CancelledError:
                task.cancel()
                await asyncio.wait({task})
                raise
            task.cancel()
        if not task.done():
            self._note_failure(piece)
            _log.error(
                self.trouble, extra={**piece.fields, "reason": f"It took longer than {duration_text(self.deadline_s)}."}
            )
            await asyncio.wait({task})  # work that ignores its cancellation is not begun again before it ends

    async def _logged(self, piece: Piece) -> None:
        try:
            await piece.work()
            self._failed.pop(piece.key, None)
        except SandboxBusyError:
            _log.debug("left to whoever works on it", extra={**piece.fields})
        except DomainError as error:
            self._note_failure(piece)
            _log.warning(self.trouble, extra={**piece.fields, "reason": error.detail})
        except Exception:  # noqa: BLE001 - one of many; the others go on
            self._note_failure(piece)
            _log.exception(self.trouble, extra={**piece.fields})

    def _note_failure(self, piece: Piece) -> None:
        if len(self._failed) > _MOST_REMEMBERED:
            self._failed.clear()
        self._failed[piece.key] = self._failed.get(piece.key, 0) + 1
