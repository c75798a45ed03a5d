"""Tasks beside the requests, for as long as the process lives."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager

logger = logging.getLogger(__name__)

CUT_S = 3.0
"""Seconds a cancelled task may take to end."""


@asynccontextmanager
async def background_task(work: Coroutine[None, None, None], name: str) -> AsyncGenerator[asyncio.Task[None]]:
    """Runs the work until the block ends.

    If it fails, the process ends as if by SIGTERM: otherwise it would seem healthy without a part of itself and let
    people wait, while a supervisor can start a new one.
    """
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_end_process_if_failed)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task}, timeout=CUT_S)


def _end_process_if_failed(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.critical(
            "the process ends because one of its tasks failed", exc_info=error, extra={"part": task.get_name()}
        )
        os.kill(os.getpid(), signal.SIGTERM)
