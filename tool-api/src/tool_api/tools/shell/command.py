"""One command of a shell: its text, what it wrote, and how it ended."""

from __future__ import annotations

import asyncio

from contracts.tools import MAX_OUTPUT_CHARACTERS
from tool_api.tools.shell.output import BoundedText


class Command:
    """Filled by bash, followed by whoever waits for it."""

    def __init__(self, text: str, folder: str) -> None:
        self.text = text
        self.folder = folder
        self.exit_code: int | None = None
        self.is_finished = False
        self._output = BoundedText(MAX_OUTPUT_CHARACTERS)
        self._unread: list[str] = []
        self._unread_size = 0
        self._wake = asyncio.Event()
        self._end = asyncio.Event()

    @property
    def output(self) -> str:
        return self._output.text()

    def add_output(self, text: str) -> None:
        self._output.append(text)
        if self._unread_size < MAX_OUTPUT_CHARACTERS:
            self._unread.append(text)
            self._unread_size += len(text)
        self._wake.set()

    def finish(self, exit_code: int | None, folder: str) -> None:
        self.exit_code = exit_code
        self.folder = folder
        self.is_finished = True
        self._wake.set()
        self._end.set()

    def take_unread(self) -> str:
        """Output since the last time it was taken."""
        text = "".join(self._unread)
        self._unread.clear()
        self._unread_size = 0
        return text

    async def wait(self, timeout_s: float) -> bool:
        """True when it has ended within the time."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._end.wait()
        except TimeoutError:
            return False
        return True

    async def wait_for_news(self, timeout_s: float) -> bool:
        """True when there is output or an end to look at within the time."""
        if self.is_finished:
            return True
        try:
            async with asyncio.timeout(timeout_s):
                await self._wake.wait()
        except TimeoutError:
            return False
        self._wake.clear()
        return True
