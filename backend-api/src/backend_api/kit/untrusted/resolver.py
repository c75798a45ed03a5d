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
"""Look-ups of a process, each in a thread."""
AT_ONCE_OF_OWNER = 4
WAIT_S = 5.0
"""For one of an owner's look-ups to end."""
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""All addresses that a name has, the best first. Raises `OSError` and `FetchFailedError`."""
_owner: ContextVar[str] = ContextVar("owner_of_lookups", default="")


def owner_of_lookups() -> str:
    """Empty where nobody said."""
    return _owner.get()


@contextmanager
def lookups_of(owner: str) -> Generator[None]:
    """Whose look-ups and fetches those are that are made within, such as a user's."""
    before = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(before)


class SystemResolver:
    """In threads of its own: a name server of whoever names a host may take its time, and all else that waits for the
    loop's threads would wait for it. Nobody has more than some of these threads; a look-up that nobody waits for any
    more counts until its thread is free."""

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
                # Nobody may be there to read it.
                looked.exception()

        looking.add_done_callback(ended)
        return list(dict.fromkeys(await asyncio.shield(looking)))

    def close(self) -> None:
        """What is asked already is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses(host: str, port: int) -> list[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
