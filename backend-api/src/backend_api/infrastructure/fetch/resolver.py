"""Addresses of a name, by the system's resolver."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

AT_ONCE = 16
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""All addresses that a name has, the best first. Raises `OSError`."""


class SystemResolver:
    """In threads of its own: a name server of whoever names a host may take its time, and all else that waits for the
    loop's threads would wait for it."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="resolver")

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        found = await asyncio.get_running_loop().run_in_executor(self._threads, _addresses, host, port)
        return list(dict.fromkeys(found))

    def close(self) -> None:
        """What is asked already is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses(host: str, port: int) -> list[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
