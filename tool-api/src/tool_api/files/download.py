"""Files as they are and folders as zip, streamed."""

from __future__ import annotations

import asyncio
import os
import stat
import zipfile
from collections.abc import AsyncGenerator, Generator
from contextlib import closing, suppress
from dataclasses import dataclass
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse

from tool_api.errors import FolderTooLargeError
from tool_api.files.listing import HIDDEN, changed_at
from tool_api.shown_names import shown_name
from tool_api.tree_walk import Folder, walk
from tool_api.workspace import Workspace

MAX_ZIP_ENTRIES = 20_000
MAX_ZIP_BYTES = 2 * 1024**3
MAX_ZIP_DEPTH = 100
_PIECE_BYTES = 256 * 1024
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
_ZIP_END = (2107, 12, 31, 23, 59, 58)


def disposition(name: str) -> str:
    """An attachment's name by RFC 6266: plain for old readers, UTF-8 for all others."""
    plain = "".join(sign if 32 <= ord(sign) < 127 and sign not in '"\\%' else "_" for sign in name)
    encoded = quote(name.encode("utf-8", "replace"), safe="")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}"


async def download(workspace: Workspace, path: str) -> Response:
    """A file or a folder as a streamed attachment. Raises `FolderTooLargeError`."""
    fd, name, state = await asyncio.to_thread(_open, workspace, path)
    headers = {"X-Content-Type-Options": "nosniff"}
    if stat.S_ISDIR(state.st_mode):
        await asyncio.to_thread(_check_size, fd)
        headers["Content-Disposition"] = disposition(f"{name}.zip")
        return StreamingResponse(in_thread(_zip(fd)), headers=headers, media_type="application/zip")
    headers |= {"Content-Disposition": disposition(name), "Content-Length": str(state.st_size)}
    return StreamingResponse(
        in_thread(_file(fd, state.st_size)), headers=headers, media_type="application/octet-stream"
    )


def _open(workspace: Workspace, path: str) -> tuple[int, str, os.stat_result]:
    with workspace.locate(path) as place:
        is_folder = stat.S_ISDIR(place.stat().st_mode)
        fd = place.open_folder() if is_folder else place.open()
        name = workspace.root.name if place.is_root and place.path == "." else os.path.basename(place.path)
        return fd, name or "workspace", os.fstat(fd)


def _file(fd: int, size: int) -> Generator[bytes]:
    """Exactly the promised bytes: a file that grows is cut there, one that shrinks ends the stream with an error."""
    with os.fdopen(fd, "rb") as file:
        left = size
        while left > 0:
            piece = file.read(min(_PIECE_BYTES, left))
            if not piece:
                raise OSError("the file became shorter while it was read")
            left -= len(piece)
            yield piece


def _check_size(fd: int) -> None:
    """Closes the folder when it refuses it."""
    budget = _Budget()
    try:
        with closing(walk(_reopen(fd))) as folders:
            for folder in folders:
                budget.take_folder(folder)
                for name in folder.files:
                    with suppress(OSError):
                        budget.take_bytes(os.stat(name, dir_fd=folder.fd, follow_symlinks=False).st_size)
    except BaseException:
        os.close(fd)
        raise


def _reopen(fd: int) -> int:
    return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=fd)


@dataclass(slots=True)
class _Budget:
    """Limits of one download; checked before its first byte and while it is packed, as a folder may grow."""

    entries: int = 0
    size: int = 0

    def take_folder(self, folder: Folder) -> None:
        """Count a folder's entries, without the hidden ones. Raises `FolderTooLargeError`."""
        folder.folders[:] = [name for name in folder.folders if name not in HIDDEN]
        self.entries += len(folder.folders) + len(folder.files)
        if self.entries > MAX_ZIP_ENTRIES or (folder.depth >= MAX_ZIP_DEPTH and folder.folders):
            raise _too_large()

    def take_bytes(self, count: int) -> None:
        """Raises `FolderTooLargeError`."""
        self.size += count
        if self.size > MAX_ZIP_BYTES:
            raise _too_large()


def _too_large() -> FolderTooLargeError:
    return FolderTooLargeError(
        f"This folder holds more than {MAX_ZIP_ENTRIES} files, {MAX_ZIP_BYTES // 1024**2} MB or {MAX_ZIP_DEPTH} "
        "folders in one another, too much for one download. Take a folder inside it, or let the agent pack what you "
        "need."
    )


class _Sink:
    """The write end of a zip file: bytes wait here until they are taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        return

    def written_bytes(self) -> bytes:
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data


def _zip(fd: int) -> Generator[bytes]:
    sink, budget = _Sink(), _Budget()
    try:
        with (
            zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,  # type: ignore[arg-type]
            closing(walk(_reopen(fd))) as folders,
        ):
            for folder in folders:
                budget.take_folder(folder)
                below = f"{folder.path}/" if folder.depth else ""
                if below:
                    archive.writestr(zipfile.ZipInfo(shown_name(below), _ZIP_EPOCH), b"")
                for name in folder.files:
                    yield from _add(archive, sink, budget, folder.fd, name, below + name)
        yield sink.written_bytes()
    finally:
        os.close(fd)


def _add(archive: zipfile.ZipFile, sink: _Sink, budget: _Budget, folder: int, name: str, path: str) -> Generator[bytes]:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return
    with os.fdopen(fd, "rb") as file:
        state = os.fstat(fd)
        if not stat.S_ISREG(state.st_mode):
            return
        changed = min(max(changed_at(state).timetuple()[:6], _ZIP_EPOCH), _ZIP_END)
        info = zipfile.ZipInfo(shown_name(path), changed)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = stat.S_IMODE(state.st_mode) << 16
        with archive.open(info, "w", force_zip64=True) as entry:
            while piece := file.read(_PIECE_BYTES):
                budget.take_bytes(len(piece))
                entry.write(piece)
                yield sink.written_bytes()


async def in_thread(pieces: Generator[bytes]) -> AsyncGenerator[bytes]:
    """The pieces, each made in a thread; a generator that is left is closed once its piece is made."""
    step: asyncio.Task[bytes | None] | None = None
    try:
        while True:
            step = asyncio.create_task(asyncio.to_thread(next, pieces, None))
            if (piece := await asyncio.shield(step)) is None:
                return
            if piece:
                yield piece
    finally:
        if step is None or step.done():
            pieces.close()
        else:
            # Whoever read is gone, while a thread is in the middle of a piece.
            step.add_done_callback(lambda ended: (ended.exception(), pieces.close()))
