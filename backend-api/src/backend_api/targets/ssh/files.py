"""Files of a remote host over SFTP, with bounds in bytes."""

from __future__ import annotations

import stat
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from posixpath import basename, dirname, join, normpath
from typing import Any, cast
from uuid import uuid4

import asyncssh
from asyncssh.constants import FILEXFER_TYPE_DIRECTORY

from backend_api.targets.ssh.connections import Connected

MAX_READ_BYTES = 10 * 1024 * 1024
MAX_ENTRIES = 5_000
MAX_LISTED_BYTES = 1_000_000
"""The most bytes of the names of a folder."""
MAX_NAME_BYTES = 1_020
"""The most that a file system has: 255 characters of four bytes."""
MAX_SIZE = 2**53 - 1
MAX_TIME = 253_402_300_799
"""The end of the year 9999."""
BLOCK = 128 * 1024
"""Of a file that is asked for at once: with a head, less than a packet may have (`connections.py`)."""
PIECE = 256 * 1024


class FileTooLargeError(Exception):
    """A file is too large to be read at once."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a folder."""

    name: str
    is_dir: bool
    size: int
    modified_at: int


@dataclass(frozen=True, slots=True)
class HostFiles:
    """Paths are absolute, or begin at the working folder, or at the home folder with `~/`. All raise
    `asyncssh.SFTPError`."""

    on: Connected

    def path(self, text: str) -> str:
        """The path as the host knows it."""
        return normpath(join(self.on.folder, text)) if not text.startswith("~/") else text

    async def located(self, text: str) -> str:
        """The path with `~/` replaced by the home folder."""
        if not text.startswith("~/"):
            return self.path(text)
        return normpath(join(str(await self.on.sftp.realpath(".")), text[2:]))

    async def read(self, path: str) -> bytes:
        """Read a file. Raises `FileTooLargeError`."""
        async with self.on.sftp.open(path, "rb", encoding=None, block_size=BLOCK) as file:
            content = await read_bytes(file, MAX_READ_BYTES + 1)
        if len(content) > MAX_READ_BYTES:
            raise FileTooLargeError
        return content

    async def write(self, path: str, content: bytes) -> None:
        """Write a file as a whole or not at all: written beside, then moved over it, with the former permissions."""
        sftp = self.on.sftp
        await sftp.makedirs(dirname(path), exist_ok=True)
        target = str(await sftp.realpath(path)) if await sftp.islink(path) else path
        former = await sftp.stat(target) if await sftp.exists(target) else None
        if former is not None and former.type == FILEXFER_TYPE_DIRECTORY:
            raise asyncssh.SFTPFailure(f"{path} is a folder")
        beside = join(dirname(target), f".{basename(target)[:200]}.{uuid4().hex[:8]}.part")
        try:
            async with sftp.open(beside, "wb", encoding=None) as file:
                await file.write(content)
            if former is not None and former.permissions is not None:
                await sftp.chmod(beside, stat.S_IMODE(former.permissions))
            await self.replace(beside, target)
        except BaseException:
            await self.remove_quietly(beside)
            raise

    async def replace(self, source: str, destination: str) -> None:
        """Move a file, replacing an existing one."""
        try:
            await self.on.sftp.posix_rename(source, destination)
        except asyncssh.SFTPOpUnsupported:
            if await self.on.sftp.exists(destination):
                await self.on.sftp.remove(destination)
            await self.on.sftp.rename(source, destination)

    async def remove_quietly(self, path: str) -> None:
        """Remove a file, ignoring errors."""
        try:
            await self.on.sftp.remove(path)
        except (asyncssh.Error, OSError):
            return

    async def entries(self, path: str) -> tuple[list[Entry], bool]:
        """The entries, folders first, then by name, and whether there are more.

        The names are the host's: what no file of a folder can be called is left out, and counts as what it sent.
        """
        found, left = dict[str, Entry](), MAX_LISTED_BYTES
        listed = self.on.sftp.scandir(path.encode(errors="surrogateescape"))
        async with aclosing(cast("AsyncGenerator[asyncssh.SFTPName]", listed)) as entries:
            number = 0
            async for one in entries:
                raw = one.filename if isinstance(one.filename, bytes) else one.filename.encode(errors="replace")
                number, left = number + 1, left - len(raw)
                # The two that each folder has of itself are sent by most hosts.
                if number > MAX_ENTRIES + 2 or left < 0:
                    return _sorted(found.values()), True
                if not raw or raw in (b".", b"..") or b"/" in raw or b"\0" in raw or len(raw) > MAX_NAME_BYTES:
                    continue
                name, attributes = raw.decode(errors="replace"), one.attrs
                is_dir = attributes.type == FILEXFER_TYPE_DIRECTORY
                size, modified_at = min(attributes.size or 0, MAX_SIZE), min(int(attributes.mtime or 0), MAX_TIME)
                found[name] = Entry(name, is_dir, size, max(modified_at, 0))
        return _sorted(found.values()), False


async def read_bytes(file: Any, most: int) -> bytes:
    """Read from a file that is open for bytes; the library's types leave the result open."""
    return bytes(await file.read(most))


def _sorted(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda one: (not one.is_dir, one.name))
