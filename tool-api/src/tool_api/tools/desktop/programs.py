"""Runs xdotool, xprop and our own program for pictures on the desktop's display, each for a bounded time."""

from __future__ import annotations

import json
import os
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence

from service_kit.programs import ProgramStart, TooMuchOutputError, run_program
from tool_api.programs.installed import find_program
from tool_api.programs.modules import module_command

NO_PICTURE = "The screenshot failed. Take another one in a moment."
NOT_DONE = "The desktop did not do that. Take a screenshot to see what is there, and try another way."
PROGRAM_S = 15.0
MAX_ANSWER_BYTES = 4 * 1024 * 1024
_MODULE = "tool_api.tools.desktop.capture_program"


class ScreenError(Exception):
    """The desktop did not do what was requested; the message is for the model."""


async def xdotool(display: str, *words: str, text: str | None = None, within_s: float = PROGRAM_S) -> str:
    """The output of xdotool; `text` is its standard input. Raises `ScreenError`."""
    return (await _run("xdotool", words, display, text, within_s)).decode("utf-8", "replace")


async def xprop(display: str, *words: str) -> str:
    """The output of xprop. Raises `ScreenError`."""
    return (await _run("xprop", words, display, None, PROGRAM_S)).decode("utf-8", "replace")


async def capture(display: str, region: Sequence[int] | None, size: tuple[int, int]) -> bytes:
    """A JPEG of the display, or of a part of it, of this size. Raises `ScreenError`."""
    asked = json.dumps({"display": display, "region": region, "size": size})
    picture = await _answer(module_command(_MODULE, asked), {}, None, PROGRAM_S, failed=NO_PICTURE)
    if not picture.startswith(b"\xff\xd8\xff"):
        raise ScreenError(NO_PICTURE)
    return picture


async def _run(name: str, words: Sequence[str], display: str, text: str | None, within_s: float) -> bytes:
    path = find_program(name)
    if path is None:
        raise ScreenError(f"This sandbox has no {name}, which the desktop tools need.")
    environment = {"DISPLAY": display, "LC_ALL": "C.UTF-8", "PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    return await _answer([path, *words], environment, text, within_s, failed=NOT_DONE)


async def _answer(
    command: list[str], environment: dict[str, str], text: str | None, within_s: float, *, failed: str
) -> bytes:
    start = ProgramStart(command=command, environment=environment, stdin=DEVNULL if text is None else PIPE)
    given = None if text is None else text.encode()
    try:
        output = await run_program(start, within_s=within_s, max_bytes=MAX_ANSWER_BYTES, text=given)
    except TooMuchOutputError:
        raise ScreenError("The desktop's response was too large. Close some windows, and try again.") from None
    except TimeoutError:
        raise ScreenError("The desktop does not respond. Try again in a moment.") from None
    if output.exit_code != 0:
        raise ScreenError(failed)
    return output.data
