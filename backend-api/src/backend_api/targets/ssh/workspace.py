"""The working folder of a remote host, as the page shows it: nothing outside of it, not through links either."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from posixpath import basename, dirname, join, normpath, relpath, splitext
from uuid import uuid4

import asyncssh
from asyncssh.constants import FILEXFER_TYPE_DIRECTORY

from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import (
    FileMissingError,
    NotOnRemoteHostError,
    PathForbiddenError,
    SandboxLostError,
)
from backend_api.sandboxes.ports import Download, FileEntry, FilePreview, Upload
from backend_api.targets.ssh.connections import Connected, HostConnections, deadline
from backend_api.targets.ssh.files import BLOCK, PIECE, HostFiles, read_bytes

MAX_PREVIEW = 100 * 1024
WITHIN_S = 30.0
MAX_NUMBERED = 100


class HostWorkspace:
    """`Workspace` of connected remote hosts."""

    def __init__(self, connections: HostConnections, *, within_s: float = WITHIN_S) -> None:
        self._connections = connections
        self._within_s = within_s

    async def list(self, sandbox: Sandbox, path: str) -> list[FileEntry]:
        async with self._at(sandbox, path) as (files, folder):
            entries, _ = await files.entries(folder)
            return [
                FileEntry(
                    path=normpath(join(relpath(folder, files.on.folder), one.name)),
                    name=one.name,
                    size=0 if one.is_dir else one.size,
                    modified_at=datetime.fromtimestamp(one.modified_at, UTC),
                    is_dir=one.is_dir,
                )
                for one in entries
            ]

    async def preview(self, sandbox: Sandbox, path: str) -> FilePreview:
        async with self._at(sandbox, path) as (files, place):
            size = (await files.on.sftp.stat(place)).size or 0
            async with files.on.sftp.open(place, "rb", encoding=None, block_size=BLOCK) as file:
                content = await read_bytes(file, MAX_PREVIEW + 1)
            is_binary = b"\0" in content
            return FilePreview(
                path=relpath(place, files.on.folder),
                name=basename(place),
                size=size,
                content=None if is_binary else content[:MAX_PREVIEW].decode(errors="replace"),
                binary=is_binary,
                language=None,
                truncated=len(content) > MAX_PREVIEW,
            )

    @asynccontextmanager
    async def download(self, sandbox: Sandbox, path: str) -> AsyncGenerator[Download]:
        async with self._at(sandbox, path) as (files, place):
            attributes = await files.on.sftp.stat(place)
        if attributes.type == FILEXFER_TYPE_DIRECTORY:
            raise NotOnRemoteHostError("A folder of a remote host can't be downloaded. Download single files.")
        yield Download(name=basename(place), size=attributes.size, chunks=_chunks(files, place, self._within_s))

    async def upload(
        self, sandbox: Sandbox, subdir: str, files: AsyncIterable[Upload], *, replaces: bool = False
    ) -> list[str]:
        """Write files beside and move each to its place once complete, so that nothing is left of an interrupted
        one."""
        written = list[str]()
        async for upload in files:
            async with self._at(sandbox, subdir, is_new=True, within_s=600.0) as (host, folder):
                await host.on.sftp.makedirs(folder, exist_ok=True)
                place = join(folder, basename(upload.name))
                if not replaces:
                    place = await _free(host, place)
                beside = join(folder, f".{uuid4().hex[:12]}.part")
                try:
                    async with host.on.sftp.open(beside, "wb", encoding=None) as file:
                        async for chunk in upload.chunks:
                            await file.write(chunk)
                    await host.replace(beside, place)
                except BaseException:
                    await host.remove_quietly(beside)
                    raise
                written.append(relpath(place, host.on.folder))
        return written

    @asynccontextmanager
    async def _at(
        self, sandbox: Sandbox, path: str, *, is_new: bool = False, within_s: float | None = None
    ) -> AsyncGenerator[tuple[HostFiles, str]]:
        on = self._connections.find(sandbox.session_id)
        if on is None or not on.is_open:
            raise SandboxLostError("The connection to the host was lost. Try again.")
        files = HostFiles(on)
        within_s = self._within_s if within_s is None else within_s
        try:
            async with deadline(on, within_s):
                yield files, await _inside(on, path, is_new=is_new)
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath) as error:
            raise FileMissingError("The file does not exist on the host.") from error
        except asyncssh.SFTPPermissionDenied as error:
            raise PathForbiddenError("The host denied permission.") from error
        except TimeoutError as error:
            raise SandboxLostError(f"The host did not answer within {within_s:.0f} s.") from error
        except (asyncssh.Error, OSError) as error:
            on.lost(error)
            raise SandboxLostError(
                "The operation failed on the host, or the connection was lost. Try again."
            ) from error


async def _inside(on: Connected, path: str, *, is_new: bool) -> str:
    """The path inside the working folder. Raises `PathForbiddenError`."""
    wanted = normpath(join(on.folder, path or "."))
    known = wanted
    while is_new and known not in ("/", on.folder) and not await on.sftp.exists(known):
        known = dirname(known)
    real = str(await on.sftp.realpath(known))
    if real != on.folder and not real.startswith(f"{on.folder.rstrip('/')}/"):
        raise PathForbiddenError("This path is outside of the working folder of the host.")
    return normpath(join(real, relpath(wanted, known)))


async def _free(files: HostFiles, place: str) -> str:
    stem, ending = splitext(place)
    for number in range(1, MAX_NUMBERED):
        if not await files.on.sftp.lexists(place):
            return place
        place = f"{stem} ({number}){ending}"
    return f"{stem} {uuid4().hex[:8]}{ending}"


async def _chunks(files: HostFiles, place: str, within_s: float) -> AsyncIterator[bytes]:
    try:
        async with files.on.sftp.open(place, "rb", encoding=None, block_size=BLOCK) as file:
            while True:
                try:
                    async with asyncio.timeout(within_s):
                        chunk = await read_bytes(file, PIECE)
                except TimeoutError:
                    # It would not answer to the end of the file either.
                    files.on.leave()
                    raise
                if not chunk:
                    return
                yield chunk
    except (asyncssh.Error, OSError, TimeoutError) as error:
        raise SandboxLostError("The connection to the host was lost in the middle of the file.") from error
