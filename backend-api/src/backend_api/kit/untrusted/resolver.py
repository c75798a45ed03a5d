"""Addresses of a name, by the system's resolver."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar

from backend_api.kit.untrusted.errors import FetchFailedError
from backend_api.kit.untrusted.shares import Shares

AT_ONCE = 32
"""The most look-ups of a process at once, each in a thread."""
AT_ONCE_OF_OWNER = 4
WAIT_S = 5.0
"""Seconds to wait until one of an owner's look-ups ends."""
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns all addresses of a name, the best first. Raises `OSError` and `FetchFailedError`."""
_owner: ContextVar[str] = ContextVar("owner_of_lookups", default="")


def owner_of_lookups() -> str:
    """The owner of look-ups; empty if none is set."""
    return _owner.get()


@contextmanager
def lookups_of(owner: str) -> Generator[None]:
    """Set the owner, such as a user, of the look-ups and fetches made within the block."""
    before = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(before)


class SystemResolver:
    """Resolves in threads of its own: a user's own name server may be slow, and would hold up everything else that
    needs the loop's threads. Each owner gets only some of these threads; an abandoned look-up counts until its thread
    is free."""

    def __init__(self, lookup: Callable[[str, int], list[str]] | None = None, wait_s: float = WAIT_S) -> None:
        self._lookup = lookup or _addresses
        self._wait_s = wait_s
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="resolver")
        self._shares = Shares(AT_ONCE_OF_OWNER)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        free = self._shares.of(owner_of_lookups())
        try:
            async with asyncio.timeout(self._wait_s):
                await free.acquire()
        except TimeoutError as error:
            raise FetchFailedError(
                f"{AT_ONCE_OF_OWNER} names that were asked for before are still being looked up, as their name servers "
                "do not answer. Try again in a minute."
            ) from error
        looking = asyncio.get_running_loop().run_in_executor(self._threads, self._lookup, host, port)

        def ended(looked: asyncio.Future[list[str]]) -> None:
            free.release()
            if not looked.cancelled():
                # Nobody may be left to read the result.
                looked.exception()

        looking.add_done_callback(ended)
        return list(dict.fromkeys(await asyncio.shield(looking)))

    def close(self) -> None:
        """Shut down without waiting for look-ups in progress."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses(host: str, port: int) -> list[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
