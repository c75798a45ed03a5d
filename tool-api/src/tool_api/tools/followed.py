"""The output and end of a program that can be followed while it runs."""

from __future__ import annotations

import asyncio

from contracts.tools import MAX_OUTPUT_CHARACTERS


class Followed:
    """Filled by the program's runner, followed by callers that wait for it. Unfetched output is bounded."""

    def __init__(self) -> None:
        self.is_finished = False
        self._unread: list[str] = []
        self._unread_size = 0
        self._wake = asyncio.Event()
        self._end = asyncio.Event()

    def take_unread(self) -> str:
        """The output since the last call."""
        text = "".join(self._unread)
        self._unread.clear()
        self._unread_size = 0
        return text

    async def wait(self, timeout_s: float) -> bool:
        """Wait; True if it has ended within the time."""
        return await _is_set(self._end, timeout_s)

    async def wait_for_output(self, timeout_s: float) -> bool:
        """Wait; True if there is new output, or it has ended, within the time."""
        if self.is_finished:
            return True
        is_set = await _is_set(self._wake, timeout_s)
        if is_set:
            self._wake.clear()
        return is_set

    def _add_unread(self, text: str) -> None:
        if text and self._unread_size < MAX_OUTPUT_CHARACTERS:
            self._unread.append(text)
            self._unread_size += len(text)
        self._wake.set()

    def _set_finished(self) -> None:
        self.is_finished = True
        self._wake.set()
        self._end.set()


async def _is_set(event: asyncio.Event, timeout_s: float) -> bool:
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        return False
    return True
