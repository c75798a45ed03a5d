"""Searching file contents in a child process, by ripgrep or, without it, by `search_process.py`.

A process, because a regular expression that never ends can be killed there, and nowhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
from asyncio.subprocess import PIPE
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from service_kit.programs import BoundedOutput, Program, ProgramStart, running_program
from tool_api.programs.installed import find_program
from tool_api.programs.modules import module_command
from tool_api.shown_names import shown_name
from tool_api.text_encoding import encoding_of_file
from tool_api.workspace import Located

MAX_OUTPUT_BYTES = 200_000
_SEARCH_S = 30.0
# A bad pattern, which is complained of, or something that could not be looked into.
_FAILED = 2
_OPTIONS = ("--color=never", "--hidden", "--no-ignore", "--no-config", "--no-messages")
_LEFT_OUT = ("--glob=!.git", "--glob=!node_modules")
_LINES = ("--line-number", "--no-heading", "--with-filename", "--null", "--max-columns=500", "--max-columns-preview")
_TRAIL = r"[\x80-\xbf]"
_NO_TRAIL = r"(?:[\x00-\x7f\xc0-\xff]|$)"
_NOT_UTF8 = (
    rf"(?-u)(?:^|[\x00-\x7f]){_TRAIL}|[\xc0\xc1\xf5-\xff]|[\xc2-\xf4]{_NO_TRAIL}|[\xe0-\xf4]{_TRAIL}{_NO_TRAIL}"
    rf"|[\xf0-\xf4]{_TRAIL}{{2}}{_NO_TRAIL}|[\xc2-\xdf]{_TRAIL}{{2}}|[\xe0-\xef]{_TRAIL}{{3}}|[\xf0-\xf4]{_TRAIL}{{4}}"
)
"""Finds bytes that are not UTF-8 (RFC 3629)."""
_JUDGING_S = 5.0
_MOST_JUDGED = 1000
_UNKNOWN_TO_RIPGREP = frozenset({"UTF-32LE", "UTF-32BE"})


class BadPatternError(Exception):
    """The regular expression is not valid."""


@dataclass(frozen=True, slots=True)
class Found:
    """Lines as `path:number:text`, and whether more was left out."""

    lines: list[str]
    is_cut: bool


_Records = list[tuple[bytes, bytes]]
"""The path of a file, as it is on the disk, and `number:text`."""


@dataclass(frozen=True, slots=True)
class _Output:
    """The beginning of a program's output, whether there was more, and its error text if it failed."""

    data: bytes
    is_cut: bool
    complaint: str = ""

    def records(self) -> _Records:
        pairs = (line.partition(b"\0") for line in self.data.splitlines())
        return [(path, rest) for path, mark, rest in pairs if mark]

    def of_good_pattern(self) -> _Output:
        """This output, if the pattern was valid: the program was the first to read it. Raises `BadPatternError`."""
        if self.complaint and not self.data:
            raise BadPatternError(self.complaint)
        return self


async def search(place: Located, pattern: str, *, ignore_case: bool) -> Found:
    """Lines that match below a folder or in a file, whatever encoding it is in.

    Raises:
        BadPatternError: the pattern is not valid.
    """
    is_folder = stat.S_ISDIR(place.stat().st_mode)
    fd = place.open_folder() if is_folder else os.dup(place.folder)
    target = "." if is_folder else f"./{place.name}"
    programs = _Programs(fd, time.monotonic() + _SEARCH_S)
    try:
        records, is_cut = await _records(programs, pattern, target, ignore_case=ignore_case)
    finally:
        os.close(fd)
    folder = place.path if is_folder else str(Path(place.path).parent)
    prefix = "" if folder == "." else f"{folder}/"
    return Found([prefix + _line(path, rest) for path, rest in records], is_cut)


def _line(path: bytes, rest: bytes) -> str:
    return f"{shown_name(os.fsdecode(path.removeprefix(b'./')))}:{rest.decode('utf-8', 'replace')}"


async def _records(programs: _Programs, pattern: str, target: str, *, ignore_case: bool) -> tuple[_Records, bool]:
    if (ripgrep := find_program("rg")) is not None:
        encoded = await _in_other_encodings(programs, ripgrep, target)
        if target == "." or _UNKNOWN_TO_RIPGREP.isdisjoint(encoded):
            command = [ripgrep, *_OPTIONS, *_LINES, *(["--ignore-case"] if ignore_case else []), "-e", pattern]
            return await _by_ripgrep(programs, command, target, encoded)
    flags = "i" if ignore_case else ""
    command = module_command("tool_api.tools.files.search_process", pattern, target, flags)
    output = (await programs.run(command)).of_good_pattern()
    return output.records(), output.is_cut


async def _by_ripgrep(
    programs: _Programs, command: list[str], target: str, encoded: dict[str, list[bytes]]
) -> tuple[_Records, bool]:
    """Search by ripgrep, which reads UTF-8, and UTF-16 with a mark. Files in other encodings are searched as such."""
    output = (await programs.run([*command, "--sort=path", *_LEFT_OUT, "--", target])).of_good_pattern()
    is_cut = output.is_cut
    if not encoded:
        return output.records(), is_cut
    others = {path for paths in encoded.values() for path in paths}
    records = [record for record in output.records() if record[0] not in others]
    for name, paths in encoded.items():
        output = await programs.run([*command, f"--encoding={name}", "--", *map(os.fsdecode, paths)])
        records += output.records()
        is_cut |= output.is_cut
    return sorted(records, key=lambda record: record[0].split(b"/")), is_cut


async def _in_other_encodings(programs: _Programs, ripgrep: str, target: str) -> dict[str, list[bytes]]:
    """The files that are text in another encoding than UTF-8, by its name; as many as there is time to look into."""
    until = time.monotonic() + _JUDGING_S
    paths = [os.fsencode(target)]
    if target == ".":
        command = [ripgrep, *_OPTIONS, "--files-with-matches", "--null", "--encoding=none", "-e", _NOT_UTF8]
        output = await programs.run([*command, *_LEFT_OUT, "--", target], until)
        paths = output.data.split(b"\0")[:_MOST_JUDGED]
    found: dict[str, list[bytes]] = defaultdict(list)
    for path in paths:
        if path and time.monotonic() < until:
            name = await asyncio.to_thread(_other_encoding, programs.folder, path)
            if name is not None:
                found[name].append(path)
    return found


def _other_encoding(folder: int, path: bytes) -> str | None:
    """The familiar name (also ripgrep's) of a file's encoding; None for UTF-8, or if the file is no text."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    try:
        encoding = encoding_of_file(fd)
    except OSError:
        return None
    finally:
        os.close(fd)
    return None if encoding is None or encoding.is_utf8 else encoding.name


@dataclass(frozen=True, slots=True)
class _Programs:
    """Runs programs in a folder, until a time of `time.monotonic()`."""

    folder: int
    until: float

    async def run(self, command: Sequence[str], until: float | None = None) -> _Output:
        """The output of one program."""
        start = ProgramStart(
            command=command,
            # The child's own descriptor, which it still has then: no other process may look into this one.
            folder=f"/proc/self/fd/{self.folder}",
            stderr=PIPE,
        )
        left = min(self.until, until or self.until) - time.monotonic()
        async with running_program(start) as program:
            return await _collect(program, max(left, 0))


async def _collect(program: Program, within_s: float) -> _Output:
    output = BoundedOutput(MAX_OUTPUT_BYTES)
    complaint, is_whole = b"", False
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            if await output.read(program.output):
                complaint = await program.errors.read(4096)
                is_whole = await program.wait() != _FAILED
    said = "" if is_whole else complaint.decode("utf-8", "replace").strip()
    return _Output(output.data, not is_whole, said)
