"""Downloads of folders no honest program makes, and of those that change while they are packed."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import cast

import pytest
from starlette.responses import StreamingResponse

from support.descriptors import open_below
from tool_api.errors import FolderTooLargeError
from tool_api.files import download
from tool_api.workspace import Workspace


@pytest.fixture
def root() -> Iterator[Path]:
    # In memory: thousands of folders are made.
    root = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield root
    subprocess.run(["rm", "-rf", str(root)], check=True)


def nest(root: Path, depth: int) -> None:
    """So many folders in one another, and a file in the last."""
    fd = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)


async def chunks(root: Path) -> AsyncIterator[bytes]:
    response = await download.download(Workspace(root), ".")
    assert isinstance(response, StreamingResponse)
    return cast("AsyncIterator[bytes]", response.body_iterator)


async def names(root: Path) -> list[str]:
    data = b"".join([chunk async for chunk in await chunks(root)])
    return zipfile.ZipFile(io.BytesIO(data)).namelist()


async def test_a_folder_is_packed_as_deep_as_it_may_be_and_refused_beyond(root: Path) -> None:
    (root / "fits").mkdir()
    nest(root / "fits", 99)
    assert f"fits/{'d/' * 99}file" in await names(root)
    (root / "deep").mkdir()
    nest(root / "deep", 1500)
    with pytest.raises(FolderTooLargeError, match="100 folders in one another"):
        await download.download(Workspace(root), "deep")
    assert open_below(root) == []


async def test_names_in_another_encoding_are_packed_as_they_are_shown(root: Path) -> None:
    os.mkdir(os.fsencode(root) + "/数据".encode("gb18030"))
    Path(os.fsdecode(os.fsencode(root) + "/数据/报告.txt".encode("gb18030"))).touch()
    assert await names(root) == ["数据/", "数据/报告.txt"]


async def test_what_grows_while_it_is_packed_ends_at_the_bounds(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MAX_ZIP_BYTES", 4 << 20)
    (root / "a").write_bytes(os.urandom(1 << 20))
    packed = await chunks(root)
    await anext(packed)
    os.truncate(root / "a", 64 << 20)
    with pytest.raises(FolderTooLargeError):
        async for _ in packed:
            pass


async def test_files_that_come_while_it_is_packed_end_at_the_bounds(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MAX_ZIP_ENTRIES", 10)
    (root / "a").write_bytes(os.urandom(1 << 20))
    (root / "b").mkdir()
    packed = await chunks(root)
    await anext(packed)
    for number in range(20):
        (root / "b" / str(number)).touch()
    with pytest.raises(FolderTooLargeError):
        async for _ in packed:
            pass


async def test_a_client_that_leaves_in_the_middle_of_a_piece_leaves_nothing_open() -> None:
    began, goes_on, closed = threading.Event(), threading.Event(), threading.Event()

    def pieces() -> Generator[bytes]:
        try:
            began.set()
            goes_on.wait(10)
            yield b"x"
        finally:
            closed.set()

    reading = asyncio.ensure_future(anext(download.in_thread(pieces())))
    assert await asyncio.to_thread(began.wait, 5)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    goes_on.set()
    assert await asyncio.to_thread(closed.wait, 5)
