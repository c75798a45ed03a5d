"""Files of a remote host over SFTP, with bounds in bytes."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from posixpath import basename, dirname, join, normpath
from typing import Any
from uuid import uuid4

import asyncssh
from asyncssh.constants import FILEXFER_TYPE_DIRECTORY

from backend_api.targets.ssh.connections import Connected

MAX_READ_BYTES = 10 * 1024 * 1024
MAX_ENTRIES = 5_000
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
        async with self.on.sftp.open(path, "rb", encoding=None) as file:
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
        """The entries, folders first, then by name, and whether there are more."""
        found = list[Entry]()
        async for one in self.on.sftp.scandir(path):
            name = one.filename if isinstance(one.filename, str) else one.filename.decode(errors="replace")
            if name in (".", ".."):
                continue
            if len(found) >= MAX_ENTRIES:
                return _sorted(found), True
            attributes = one.attrs
            is_dir = attributes.type == FILEXFER_TYPE_DIRECTORY
            found.append(Entry(name, is_dir, attributes.size or 0, int(attributes.mtime or 0)))
        return _sorted(found), False


async def read_bytes(file: Any, most: int) -> bytes:
    """Read from a file that is open for bytes; the library's types leave the result open."""
    return bytes(await file.read(most))


def _sorted(entries: list[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda one: (not one.is_dir, one.name))
