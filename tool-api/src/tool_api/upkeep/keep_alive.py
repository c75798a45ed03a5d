"""The exchange with a manager: over HTTP or, without a network to the sandbox, on standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass

from contracts.sandboxes import KeepAlive, KeptAlive
from tool_api.access import Access
from tool_api.activity import Activity
from tool_api.errors import ClaimedError, UnauthenticatedError
from tool_api.upkeep.disk import DiskWatch
from tool_api.upkeep.watchdog import Watchdog

KEPT_LINE = "tool-api: kept {}"
_LONGEST_LINE = 16 * 1024
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAliveResponder:
    """Answers managers; only their own tokens, which nothing inside can make, count as their presence."""

    access: Access
    activity: Activity
    watchdog: Watchdog
    disk: DiskWatch
    desktop_rests: Callable[[], bool]

    def answer_token(self, token: str) -> KeptAlive:
        """Raises `UnauthenticatedError`, `ClaimedError`."""
        self.access.verify_keep_alive(token)
        self.watchdog.reset()
        return KeptAlive(
            unused_s=round(self.activity.unused_s, 1),
            disk_bytes=self.disk.used_bytes,
            disk_files=self.disk.used_files,
            resting=self.access.is_unclaimed and self.desktop_rests(),
        )

    async def listen(self) -> None:
        """Answer each line of standard input on standard output, if that is a pipe; no child inherits it."""
        if not stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode):
            return
        reader = asyncio.StreamReader(limit=_LONGEST_LINE)
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(_take_stream(sys.stdin.fileno()), "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            while line := await _line(reader):
                self._answer(line)
        finally:
            transport.close()

    def _answer(self, line: bytes) -> None:
        try:
            kept = self.answer_token(KeepAlive.model_validate_json(line).keep)
        except (ValueError, UnauthenticatedError, ClaimedError):
            _log.warning("an unauthorised client spoke as a manager")
            return
        print(KEPT_LINE.format(kept.model_dump_json()), flush=True)  # noqa: T201


def _take_stream(number: int) -> int:
    """Move the stream to another number, which children do not inherit; they get /dev/null."""
    taken = os.dup(number)
    silence = os.open(os.devnull, os.O_RDONLY)
    os.dup2(silence, number)
    os.close(silence)
    return taken


async def _line(reader: asyncio.StreamReader) -> bytes:
    while True:
        try:
            return await reader.readline()
        except ValueError:
            continue  # longer than any of ours
