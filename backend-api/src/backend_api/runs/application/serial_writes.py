"""One write after the other, each to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

logger = logging.getLogger(__name__)

WRITE_GRACE_S = 0.3


class Writer(Protocol):
    """A writer: it holds `writing` during each write, and writes nothing while `is_cut`."""

    writing: asyncio.Lock
    is_cut: bool


W = TypeVar("W", bound=Writer)
P = ParamSpec("P")
T = TypeVar("T")


def serialized(
    write: Callable[Concatenate[W, P], Coroutine[None, None, T]],
) -> Callable[Concatenate[W, P], Coroutine[None, None, T]]:
    """Run the writes one after the other. A cancellation in the middle of a write waits for its end: otherwise nobody
    knows whether it was stored, or what is still open."""

    @wraps(write)
    async def one(writes: W, *args: P.args, **kwargs: P.kwargs) -> T:
        async def alone() -> T:
            async with writes.writing:
                if writes.is_cut:
                    raise asyncio.CancelledError
                return await write(writes, *args, **kwargs)

        task = asyncio.ensure_future(alone())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task}, timeout=WRITE_GRACE_S)
            task.add_done_callback(_forget)
            raise

    return one


def _forget(task: asyncio.Task[T]) -> None:
    """Discard the outcome of a write whose caller has gone."""
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("a write failed after its run was left", extra={"reason": str(error)})
