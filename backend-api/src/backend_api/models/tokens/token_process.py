"""Counts tokens in a process of its own, which is there while it is asked.

A vocabulary takes 25 to 45 MB, and half a second to load in which nothing else of its process goes on; most processes
never need a count. So it is loaded beside them, by the first text that must be counted; in a thread it would hold the
interpreter, and with it every stream of the process. Where nothing counts, the domain's estimate does.
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
"""It ends by itself when nothing was asked for so long."""
WITHIN_S = 20.0
"""Also where it has to be started, on a machine that is busy."""
PAUSE_S = 60.0
"""After it failed it is not started again for so long."""
AT_ONCE = 64
"""Texts, so that what is under way stays small."""
_PROGRAM = Path(__file__).with_name("token_program.py")
_COUNTED = TypeAdapter(list[int | None])


class TokenProcess:
    """Started when it is first asked, again after it has ended. It knows nothing of the deployment's environment."""

    def __init__(self, program: Path = _PROGRAM, *, idle_s: float = IDLE_S, within_s: float = WITHIN_S) -> None:
        self._program = program
        self._idle_s = idle_s
        self._within_s = within_s
        self._process: Program | None = None
        self._one_by_one = asyncio.Lock()
        self._not_before = 0.0

    @property
    def pid(self) -> int | None:
        """While it is there."""
        return self._process.pid if self._process is not None and self._process.exit_code is None else None

    async def count(self, vocabulary: str, texts: Sequence[str]) -> Sequence[int | None]:
        """Of each text; None for one that can't be counted, and for all where nothing counts."""
        counted: list[int | None] = []
        for begin in range(0, len(texts), AT_ONCE):
            some = texts[begin : begin + AT_ONCE]
            async with self._one_by_one:
                counted += await self._counted(vocabulary, some) or [None] * len(some)
        return counted

    async def aclose(self) -> None:
        """End it."""
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
                # It may have come to its end while it was asked.
                counted = _COUNTED.validate_json(said or await self._ask(asked))
            if len(counted) != len(texts):
                raise ValueError("as many numbers as texts")
        except (TimeoutError, OSError, ValidationError, ValueError) as error:
            logger.warning("tokens are estimated for a while", extra={"reason": type(error).__name__})
            self._not_before = now() + PAUSE_S
            await self._end()
            return None
        except asyncio.CancelledError:
            # Nobody else is to read what it says to this.
            await self._end()
            raise
        return counted

    async def _ask(self, asked: bytes) -> bytes:
        """Its line; nothing where it has ended."""
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
