"""Uploads that are taken whole or not at all, and all at once no more than there is room for."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from support.endpoint import SOURCES
from support.ordinary_user import UID, as_ordinary_user, hand_to_ordinary_user
from tool_api.errors import DiskFullError, InvalidUploadError
from tool_api.files.upload import receive
from tool_api.upkeep.disk import DiskWatch
from tool_api.workspace import Workspace

MIB = 1 << 20
ROOM = 10 * MIB


async def form(files: list[tuple[str, int]], *, cut: bool = False, of: bytes = b"x") -> AsyncGenerator[bytes]:
    """A multipart body of files, each so many MiB, 64 KiB at once."""
    for name, size in files:
        yield f'--B\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode()
        for _ in range(size * 16):
            yield of * (MIB // 16)
            await asyncio.sleep(0)
        yield b"\r\n"
    if not cut:
        yield b"--B--\r\n"


async def upload(
    root: Path,
    watch: DiskWatch,
    *files: tuple[str, int],
    cut: bool = False,
    max_bytes: int = ROOM,
    replaces: bool = False,
    of: bytes = b"x",
) -> list[str]:
    kind, body = "multipart/form-data; boundary=B", form(list(files), cut=cut, of=of)
    return await receive(Workspace(root), "", kind, body, max_bytes, watch, replaces=replaces)


def on_disk(root: Path) -> int:
    return sum(file.stat().st_size for file in root.iterdir())


async def test_uploads_at_once_share_the_room_that_is_left(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, ROOM)
    answers = await asyncio.gather(
        *(upload(tmp_path, watch, (str(number), 9)) for number in range(8)), return_exceptions=True
    )
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert all(isinstance(error, DiskFullError) for error in refused), refused
    assert len(refused) >= 7
    assert on_disk(tmp_path) <= ROOM


async def test_one_that_is_cancelled_in_the_middle_of_a_piece_writes_to_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, at_work, goes_on = os.write, threading.Event(), threading.Event()

    def slow(fd: int, data: bytes) -> int:
        at_work.set()
        goes_on.wait(10)
        return write(fd, data)

    monkeypatch.setattr(os, "write", slow)
    taken: list[int] = []
    task = asyncio.create_task(upload(tmp_path, DiskWatch(tmp_path, ROOM), ("f", 1)))
    try:
        await asyncio.to_thread(at_work.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        taken += [os.open(tmp_path / f"other{number}", os.O_WRONLY | os.O_CREAT) for number in range(3)]
    finally:
        goes_on.set()
    async with asyncio.timeout(10):
        while [*tmp_path.glob(".*.part")]:
            await asyncio.sleep(0.01)
    assert on_disk(tmp_path) == 0
    for fd in taken:
        os.close(fd)


async def test_what_was_refused_or_left_half_done_takes_no_room(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, ROOM)
    for _ in range(5):
        with pytest.raises(DiskFullError) as refused:
            await upload(tmp_path, watch, ("over", 11), max_bytes=2 * ROOM)
        assert "room for 10.0 MB more of the 10.0 MB" in refused.value.detail
        with pytest.raises(InvalidUploadError):
            await upload(tmp_path, watch, ("cut", 9), cut=True)
        assert os.listdir(tmp_path) == []
    assert await upload(tmp_path, watch, ("fits", 9)) == ["fits"]
    assert watch.used_bytes == 9 * MIB


async def test_files_count_as_they_come(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, 0, limit_files=150)
    await upload(tmp_path, watch, *((f"a{number}", 0) for number in range(100)))
    with pytest.raises(DiskFullError):
        await upload(tmp_path, watch, *((f"b{number}", 0) for number in range(100)))
    assert watch.used_files == 100
    assert len(os.listdir(tmp_path)) == 100


async def test_of_an_upload_that_can_not_be_whole_nothing_appears(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "old").write_text("as it was")
    with pytest.raises(InvalidUploadError, match="folder is a folder"):
        await upload(tmp_path, DiskWatch(tmp_path, 0), ("new", 1), ("old", 1), ("folder", 1), replaces=True)
    assert sorted(os.listdir(tmp_path)) == ["folder", "old"]
    assert (tmp_path / "old").read_text() == "as it was"


FAILS_AT_LAST = """
import os, sys
from tool_api.files.placement import place_all
folder = os.open(sys.argv[1], os.O_RDONLY)
for name in ("1", "2", "3", "4"):
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=folder))
try:
    place_all(folder, [("1", "new"), ("2", "old"), ("3", "link"), ("4", "new"), ("missing", "last")])
except FileNotFoundError:
    sys.exit(7)
"""


@pytest.mark.parametrize("is_owner", [True, False])
def test_what_can_not_be_placed_at_last_leaves_all_as_it_was(tmp_path: Path, *, is_owner: bool) -> None:
    """A file of somebody else may be moved in one's own folder, and given no second name."""
    hand_to_ordinary_user(tmp_path)
    (tmp_path / "old").write_text("as it was")
    (tmp_path / "old").chmod(0o600)
    (tmp_path / "link").symlink_to("old")
    if is_owner and os.geteuid() == 0:
        os.chown(tmp_path / "old", UID, UID)
    command = as_ordinary_user([sys.executable, "-c", FAILS_AT_LAST, str(tmp_path)])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(SOURCES)}
    assert subprocess.run(command, env=environment, check=False, timeout=30).returncode == 7
    assert set(os.listdir(tmp_path)) - {"1", "2", "3", "4"} == {"link", "old"}
    assert (tmp_path / "old").read_text() == "as it was"
    assert os.readlink(tmp_path / "link") == "old"


async def test_an_upload_that_is_to_replace_files_leaves_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("as it was")
    paths = await upload(tmp_path, DiskWatch(tmp_path, 0), ("old", 1), ("new", 1), ("old", 2), replaces=True)
    assert paths == ["old", "new", "old"]
    assert sorted(os.listdir(tmp_path)) == ["new", "old"]
    assert (tmp_path / "old").stat().st_size == 2 * MIB


async def test_files_of_one_name_get_numbers_and_none_is_lost(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_text("as it was")
    (tmp_path / "a.tar.gz").mkdir()
    watch = DiskWatch(tmp_path, 0)
    first = await upload(tmp_path, watch, ("image.png", 1), ("image.png", 2), ("a.tar.gz", 1), ("new.txt", 1))
    assert first == ["image (2).png", "image (3).png", "a (2).tar.gz", "new.txt"]
    assert await upload(tmp_path, watch, ("image.png", 3)) == ["image (4).png"]
    assert (tmp_path / "image.png").read_text() == "as it was"
    sizes = [(tmp_path / f"image ({number}).png").stat().st_size // MIB for number in (2, 3, 4)]
    assert sizes == [1, 2, 3]
    assert not list(tmp_path.glob(".*.part"))


async def test_files_that_are_sent_again_after_a_cut_are_there_once(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, 0)
    (tmp_path / "taken").write_text("of the agent")
    assert await upload(tmp_path, watch, ("a", 1), ("taken", 1)) == ["a", "taken (2)"]
    with pytest.raises(InvalidUploadError):
        await upload(tmp_path, watch, ("b", 1), cut=True)
    assert sorted(os.listdir(tmp_path)) == ["a", "taken", "taken (2)"]
    all_of_it = [("a", 1), ("taken", 1), ("b", 1)]
    assert await upload(tmp_path, watch, *all_of_it) == ["a", "taken (2)", "b"]
    assert await upload(tmp_path, watch, *all_of_it) == ["a", "taken (2)", "b"]
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "taken", "taken (2)"]
    # What the agent changed or put there instead is another file.
    (tmp_path / "a").write_text("changed")
    (tmp_path / "b").unlink()
    os.mkfifo(tmp_path / "b")
    assert await upload(tmp_path, watch, ("a", 1), ("b", 1)) == ["a (2)", "b (2)"]
    assert (tmp_path / "a").read_text() == "changed"


async def test_names_that_read_alike_are_one_name(tmp_path: Path) -> None:
    composed, decomposed = "caf\u00e9.txt", "cafe\u0301.txt"
    watch = DiskWatch(tmp_path, 0)
    (tmp_path / os.fsdecode(b"\xb1\xa8.txt")).write_text("not UTF-8")
    assert await upload(tmp_path, watch, (composed, 1), (decomposed, 1)) == [composed, "cafe\u0301 (2).txt"]
    # These differ for the file system, and for who reads them.
    assert await upload(tmp_path, watch, ("A.txt", 1), ("a.txt", 1)) == ["A.txt", "a.txt"]


async def test_uploads_of_one_name_at_once_are_all_there(tmp_path: Path) -> None:
    watch = DiskWatch(tmp_path, 0)
    answers = await asyncio.gather(*(upload(tmp_path, watch, ("image.png", 1), of=bytes([n])) for n in range(12)))
    names = [path for (path,) in answers]
    assert sorted(names) == sorted(os.listdir(tmp_path))
    assert len({*names}) == 12


async def test_where_a_file_can_have_no_second_name_it_is_placed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "image.png").write_text("as it was")
    watch = DiskWatch(tmp_path, 0)
    assert await upload(tmp_path, watch, ("image.png", 1), ("b", 1)) == ["image (2).png", "b"]
    assert sorted(os.listdir(tmp_path)) == ["b", "image (2).png", "image.png"]
    assert (tmp_path / "image (2).png").stat().st_size == MIB


async def test_when_one_of_several_can_not_be_placed_none_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def refuse_last(source: str, name: str, **fields: Any) -> None:
        if name == "last":
            raise OSError(errno.ENOSPC, "No space left on device")
        link(source, name, **fields)

    opened = os.open
    monkeypatch.setattr(os, "link", refuse_last)

    def refuse_open(path: Any, *rest: Any, **fields: Any) -> int:
        if path == "last":
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(path, *rest, **fields)

    monkeypatch.setattr(os, "open", refuse_open)
    (tmp_path / "first").write_text("as it was")
    with pytest.raises(OSError, match="No space"):
        await upload(tmp_path, DiskWatch(tmp_path, 0), ("first", 1), ("last", 1))
    assert os.listdir(tmp_path) == ["first"]
    assert (tmp_path / "first").read_text() == "as it was"
