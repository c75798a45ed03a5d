"""An asynchronous server in a thread of its own, for tests that call it synchronously."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

_T = TypeVar("_T")
START_S = 60.0


@contextmanager
def in_background(opening: AbstractAsyncContextManager[_T]) -> Generator[tuple[_T, asyncio.AbstractEventLoop]]:
    """What `opening` yields, and the loop it lives on; closed at the end."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="background")
    thread.start()
    try:
        opened = asyncio.run_coroutine_threadsafe(opening.__aenter__(), loop).result(START_S)
        try:
            yield opened, loop
        finally:
            asyncio.run_coroutine_threadsafe(opening.__aexit__(None, None, None), loop).result(START_S)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(START_S)
        loop.close()
