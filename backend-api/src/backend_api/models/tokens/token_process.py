"""Counts tokens in a separate process, which is kept while it is used.

A vocabulary takes 25 to 45 MB, and half a second to load, which blocks its process; most processes never need a count.
So it is loaded in a process beside them when the first text has to be counted; in a thread it would hold the
interpreter lock, and with it every stream of the process. If counting fails, the domain's estimate is used.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from service_kit.programs import Program, ProgramStart, start_program

logger = logging.getLogger(__name__)

IDLE_S = 300.0
"""Seconds without a request after which the process ends by itself."""
WITHIN_S = 20.0
"""Timeout of a request, in seconds, which includes starting the process on a busy machine."""
PAUSE_S = 60.0
"""Seconds after a failure in which the process is not started again."""
AT_ONCE = 64
"""The most texts of one request, so that each stays small."""
_PROGRAM = Path(__file__).with_name("token_program.py")
_COUNTED = TypeAdapter(list[int | None])


class TokenProcess:
    """Starts the process on first use, and again after it has ended. It gets nothing of the deployment's
    environment."""

    def __init__(self, program: Path = _PROGRAM, *, idle_s: float = IDLE_S, within_s: float = WITHIN_S) -> None:
        self._program = program
        self._idle_s = idle_s
        self._within_s = within_s
        self._process: Program | None = None
        self._one_by_one = asyncio.Lock()
        self._not_before = 0.0

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process is not None and self._process.exit_code is None else None

    async def count(self, vocabulary: str, texts: Sequence[str]) -> Sequence[int | None]:
        """The count of each text; None for a text that can't be counted, and for all if counting fails."""
        counted: list[int | None] = []
        for begin in range(0, len(texts), AT_ONCE):
            some = texts[begin : begin + AT_ONCE]
            async with self._one_by_one:
                counted += await self._counted(vocabulary, some) or [None] * len(some)
        return counted

    async def aclose(self) -> None:
        """Ends the process."""
        async with self._one_by_one:
            await self._end()

    async def _counted(self, vocabulary: str, texts: Sequence[str]) -> Sequence[int | None] | None:
        now = asyncio.get_running_loop().time
        if now() < self._not_before:
            return None
        asked = json.dumps([vocabulary, texts]).encode() + b"\n"
        try:
            async with asyncio.timeout(self._within_s):
                said = await self._ask(asked)
                # The process may have ended just before the request.
                counted = _COUNTED.validate_json(said or await self._ask(asked))
            if len(counted) != len(texts):
                raise ValueError("as many numbers as texts")
        except (TimeoutError, OSError, ValidationError, ValueError) as error:
            logger.warning("tokens are estimated for a while", extra={"reason": type(error).__name__})
            self._not_before = now() + PAUSE_S
            await self._end()
            return None
        except asyncio.CancelledError:
            # Ended, so that no later request reads its answer to this one.
            await self._end()
            raise
        return counted

    async def _ask(self, asked: bytes) -> bytes:
        """The process's answer line, or empty if it has ended."""
        process = self._process
        if process is None or process.exit_code is not None:
            if not _is_installed("splintr"):
                raise FileNotFoundError("There is no tokenizer for this machine.")
            command = (sys.executable, "-I", self._program, str(self._idle_s))
            process = self._process = await start_program(ProgramStart(command=command, stdin=PIPE))
        try:
            process.input.write(asked)
            await process.input.drain()
            said = await process.output.readline()
        except ConnectionError:
            said = b""
        if not said:
            await self._end()
        return said

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.end()


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:
        return False
