"""Programs of ours that take documents apart: few at a time, without our environment, ended with whoever waits."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tool_api

AT_ONCE = 2
MAX_ANSWER_BYTES = 64 * 1024 * 1024
_SOURCES = str(Path(tool_api.__file__).parent.parent)
# Alone by its path it would not find our packages, as it is started without our environment.
_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import importlib; importlib.import_module(sys.argv.pop(1)).main()"
)


@contextmanager
def in_memory(data: bytes) -> Generator[int]:
    """A descriptor of what these bytes are, which stands in no folder."""
    fd = os.memfd_create("document", os.MFD_CLOEXEC)
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


class ProgramFailedError(Exception):
    """It ended without an answer: it took more time or memory than it may, or broke."""


class DocumentPrograms:
    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_ONCE)

    async def answer(self, module: str, asked: dict[str, Any], document: int, within_s: float) -> bytes:
        """What the module's program says of what the descriptor `document` holds.

        Raises:
            ProgramFailedError: it said nothing whole in time.
        """
        try:
            async with asyncio.timeout(within_s), self._room:
                return await _run(module, asked, document)
        except TimeoutError as error:
            raise ProgramFailedError("it took too long") from error


async def _run(module: str, asked: dict[str, Any], document: int) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-B", "-c", _START, _SOURCES, f"tool_api.documents.{module}", json.dumps(asked)),
        stdin=document,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
        env={},
    )
    assert process.stdout is not None
    errors = bytearray()
    try:
        while piece := await process.stdout.read(65_536):
            errors += piece
            if len(errors) > MAX_ANSWER_BYTES:
                raise ProgramFailedError("it said too much")
        if await process.wait() != 0:
            raise ProgramFailedError("it broke")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return bytes(errors)
