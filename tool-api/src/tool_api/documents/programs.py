"""Programs of ours that read documents: few at a time, without our environment, ended with the call."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from service_kit.programs import ProgramStart, TooMuchOutputError, run_program
from tool_api.programs.modules import module_command

AT_ONCE = 2
MAX_ANSWER_BYTES = 64 * 1024 * 1024


@contextmanager
def in_memory(data: bytes) -> Generator[int]:
    """A descriptor of these bytes as a file in memory."""
    fd = os.memfd_create("document", os.MFD_CLOEXEC)
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


class ProgramFailedError(Exception):
    """The program ended without a whole answer: it took too much time or memory, or failed."""


class DocumentPrograms:
    """Starts a few of them at a time."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_ONCE)

    async def answer(self, module: str, asked: dict[str, Any], document: int, within_s: float) -> bytes:
        """Run the module's program on the document of this descriptor; returns its output.

        Raises:
            ProgramFailedError: it gave no whole answer in time.
        """
        try:
            async with asyncio.timeout(within_s), self._room:
                return await _run(module, asked, document, within_s)
        except TimeoutError as error:
            raise ProgramFailedError("it took too long") from error


async def _run(module: str, asked: dict[str, Any], document: int, within_s: float) -> bytes:
    start = ProgramStart(command=module_command(f"tool_api.documents.{module}", json.dumps(asked)), stdin=document)
    try:
        output = await run_program(start, within_s=within_s, max_bytes=MAX_ANSWER_BYTES)
    except TooMuchOutputError as error:
        raise ProgramFailedError("its output was too large") from error
    if output.exit_code != 0:
        raise ProgramFailedError("it broke")
    return output.data
