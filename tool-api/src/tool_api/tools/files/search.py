"""Searching file contents in a child process, by ripgrep or, without it, by `search_process.py`.

A process, because a regular expression that never ends can be killed there, and nowhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

import tool_api
from tool_api.own_programs import find_program
from tool_api.workspace import Located

MAX_OUTPUT_BYTES = 200_000
_SEARCH_S = 30.0
# A bad pattern, which is complained of, or something that could not be looked into.
_FAILED = 2
_SOURCES = str(Path(tool_api.__file__).parent.parent)
# The interpreter is started without its packages, and so without ours.
_WITHOUT_RIPGREP = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from tool_api.tools.files import search_process; sys.exit(search_process.main())"
)


class BadPatternError(Exception):
    """The regular expression is not valid."""


@dataclass(frozen=True, slots=True)
class Found:
    """Lines as `path:number:text`, and whether more was left out."""

    lines: list[str]
    is_cut: bool


async def search(place: Located, pattern: str, *, ignore_case: bool) -> Found:
    """Lines that match below a folder or in a file.

    Raises:
        BadPatternError: the pattern is not valid.
    """
    is_folder = stat.S_ISDIR(place.stat().st_mode)
    fd = place.open_folder() if is_folder else os.dup(place.folder)
    target = "." if is_folder else f"./{place.name}"
    try:
        process = await asyncio.create_subprocess_exec(
            *_command(pattern, target, ignore_case=ignore_case),
            # Of the child, which still has it then: nobody else may look into this process.
            cwd=f"/proc/self/fd/{fd}",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            return await _collect(process, place.path if is_folder else str(Path(place.path).parent))
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    finally:
        os.close(fd)


def _command(pattern: str, target: str, *, ignore_case: bool) -> list[str]:
    ripgrep = find_program("rg")
    if ripgrep is None:
        flags = "i" if ignore_case else ""
        return [sys.executable, "-I", "-S", "-c", _WITHOUT_RIPGREP, _SOURCES, pattern, target, flags]
    options = ["--line-number", "--no-heading", "--with-filename", "--color=never", "--max-columns=500", "--hidden"]
    options += [
        "--max-columns-preview",
        "--no-ignore",
        "--no-config",
        "--no-messages",
        "--sort=path",
        "--glob=!.git",
        "--glob=!node_modules",
    ]
    return [ripgrep, *options, *(["--ignore-case"] if ignore_case else []), "-e", pattern, "--", target]


async def _collect(process: asyncio.subprocess.Process, folder: str) -> Found:
    assert process.stdout is not None
    assert process.stderr is not None
    output = bytearray()
    is_cut = False
    try:
        async with asyncio.timeout(_SEARCH_S):
            while piece := await process.stdout.read(65536):
                output += piece
                if len(output) > MAX_OUTPUT_BYTES:
                    is_cut = True
                    break
            if not is_cut:
                complaint = await process.stderr.read(4096)
                is_cut = await process.wait() == _FAILED
                if is_cut and complaint and not output:
                    raise BadPatternError(complaint.decode("utf-8", "replace").strip())
    except TimeoutError:
        is_cut = True
    lines = bytes(output[:MAX_OUTPUT_BYTES]).decode("utf-8", "replace").splitlines()
    prefix = "" if folder == "." else f"{folder}/"
    return Found([prefix + line.removeprefix("./") for line in lines], is_cut)
