"""An archive into a workspace, all or none."""

from __future__ import annotations

import contextlib
import gzip
import os
import stat
import tarfile
import time
from collections.abc import Generator
from io import RawIOBase
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.archive.bounds import (
    FOLDER,
    KEPT,
    STAGE,
    ArchiveError,
    Counted,
    forget_entries,
)
from sandbox_manager.infrastructure.runtimes.archive.removal import empty, move_aside, open_folder

_NEW, _OLD = "new", "old"  # in the stage
_COMPLETE, _EMPTIED = "restore.complete", "restore.emptied"  # beside the archives
_BLOCK = 256 * 1024
_REMOVE_S = 200.0


def unpack(workspace: Path, source: Path, counted: Counted) -> None:
    """Replace the workspace's files by the archive's, all or none. Nothing else may write to the workspace.

    The progress is recorded beside the archive, as content of the workspace can't be trusted.
    """
    mend(workspace, source.parent)
    if not source.is_file():
        raise ArchiveError("missing", "The snapshot's archive is gone.")
    stage, complete = workspace / STAGE, source.parent / _COMPLETE
    owner = workspace.lstat()
    fresh = stage / _NEW
    try:
        fresh.mkdir(parents=True, mode=0o700)
        with gzip.open(source) as packed, tarfile.open(None, "r|", packed) as archive:
            _Unpacking(fresh, owner.st_uid, owner.st_gid, counted).all_of(archive)
        _make_durable(complete)
    except BaseException:
        complete.unlink(missing_ok=True)
        remove_tree(stage)
        raise
    mend(workspace, source.parent)


def mend(workspace: Path, marks: Path) -> None:
    """Bring an interrupted exchange to its end: forward if the new files were complete, else back.

    Without our mark, anything in the stage's place is garbage.
    """
    if workspace.lstat().st_mode & stat.S_IRWXU != stat.S_IRWXU:  # its owner may have shut it
        workspace.chmod(stat.S_IRWXU)
    if (marks / _COMPLETE).exists() or (marks / _EMPTIED).exists():
        with contextlib.ExitStack() as stack:
            _carry_on(_open(workspace, None, stack), marks, stack)
    remove_tree(workspace / STAGE)


def _carry_on(root: int, marks: Path, stack: contextlib.ExitStack) -> None:
    try:
        stage = _open(STAGE, root, stack)
        fresh = _open(_NEW, stage, stack)
    except (FileNotFoundError, NotADirectoryError):
        # There is nothing to carry on with: these are not the files the mark was made for.
        for mark in (_COMPLETE, _EMPTIED):
            (marks / mark).unlink(missing_ok=True)
        return
    if (marks / _COMPLETE).exists():
        with contextlib.suppress(FileExistsError):
            os.mkdir(_OLD, 0o700, dir_fd=stage)
        old = _open(_OLD, stage, stack)
        for name in os.listdir(root):
            if name not in KEPT and name != STAGE:
                _move(root, name, old)
        (marks / _COMPLETE).rename(marks / _EMPTIED)
    for name in os.listdir(fresh):
        _move(fresh, name, root)
    (marks / _EMPTIED).unlink()


def _open(name: str | Path, folder: int | None, stack: contextlib.ExitStack) -> int:
    opened = os.open(name, FOLDER, dir_fd=folder)
    stack.callback(os.close, opened)
    return opened


def _move(source: int, name: str, target: int) -> None:
    """Move into another folder, keeping the mode; a folder its owner may not write to can't be moved as it is."""
    mode = os.stat(name, dir_fd=source, follow_symlinks=False).st_mode
    move_aside(source, name, target, name)
    if stat.S_ISDIR(mode) and os.stat(name, dir_fd=target, follow_symlinks=False).st_mode != mode:
        os.chmod(name, stat.S_IMODE(mode), dir_fd=target)


def _make_durable(mark: Path) -> None:
    made = os.open(mark, os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.fsync(made)
    finally:
        os.close(made)


class _Unpacking:
    """Unpacks an archive; every step goes through open folders and follows no symlink, whatever the archive holds."""

    def __init__(self, root: Path, uid: int, gid: int, counted: Counted) -> None:
        self._root, self._uid, self._gid, self._counted = root, uid, gid, counted
        self._folders: list[tuple[str, int, float]] = []

    def all_of(self, archive: tarfile.TarFile) -> None:
        while (info := archive.next()) is not None:
            forget_entries(archive)
            self._counted.file(info.name, info.linkname)
            self._close_folders(info.name)
            self._make(archive, info)
        self._close_folders("")

    def _make(self, archive: tarfile.TarFile, info: tarfile.TarInfo) -> None:
        with self._folder_of(info.name) as (folder, name):
            if info.isdir():
                os.mkdir(name, 0o700, dir_fd=folder)
                os.chown(name, self._uid, self._gid, dir_fd=folder, follow_symlinks=False)
                self._folders.append((info.name, info.mode, info.mtime))
            elif info.issym():
                os.symlink(info.linkname, name, dir_fd=folder)
                os.chown(name, self._uid, self._gid, dir_fd=folder, follow_symlinks=False)
            elif info.islnk():
                with self._folder_of(info.linkname) as (other, target):
                    os.link(target, name, src_dir_fd=other, dst_dir_fd=folder, follow_symlinks=False)
            elif info.isreg():
                self._file(archive, info, folder, name)

    def _close_folders(self, next_path: str) -> None:
        """Give folders that are complete their mode and time, as an archive goes through one at a time; before, they
        could not have been written to."""
        while self._folders and not next_path.startswith(f"{self._folders[-1][0]}/"):
            path, mode, mtime = self._folders.pop()
            with self._folder_of(path) as (folder, name):
                opened = os.open(name, FOLDER, dir_fd=folder)
                try:
                    os.fchmod(opened, mode & 0o777)
                    os.utime(opened, (mtime, mtime))
                finally:
                    os.close(opened)

    def _file(self, archive: tarfile.TarFile, info: tarfile.TarInfo, folder: int, name: str) -> None:
        self._counted.add(info.size, info.name)
        content = archive.extractfile(info)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb", 0) as file:
            while content is not None and (piece := content.read(_BLOCK)):
                if piece.count(0) == len(piece):
                    file.seek(len(piece), os.SEEK_CUR)  # holes stay holes
                else:
                    _write_all(file, piece)
            if file.tell() != info.size:
                raise ArchiveError("damaged", "The snapshot ends in the middle of a file.")
            file.truncate(info.size)
            os.fchown(file.fileno(), self._uid, self._gid)
            os.fchmod(file.fileno(), info.mode & 0o777)
            os.utime(file.fileno(), (info.mtime, info.mtime))

    @contextlib.contextmanager
    def _folder_of(self, path: str) -> Generator[tuple[int, str]]:
        *parents, name = path.rstrip("/").split("/")
        if any(part in ("", ".", "..") for part in (*parents, name)) or (parents or [name])[0] in (*KEPT, STAGE):
            raise ArchiveError("damaged", "The snapshot contains an invalid path.")
        folder = os.open(self._root, FOLDER)
        try:
            for part in parents:
                inner = os.open(part, FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder, name
        finally:
            os.close(folder)


def _write_all(file: RawIOBase, piece: bytes) -> None:
    """Write the whole piece: an unbuffered file on an almost full disk takes a part of it, and reports the error at the
    next write."""
    left = memoryview(piece)
    while left:
        left = left[file.write(left) or 0 :]


def remove_tree(folder: Path) -> None:
    """Remove a folder whatever rights its own folders have; a symlink is removed, never followed."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    parent = os.open(folder.parent, FOLDER)
    try:
        opened = open_folder(parent, folder.name)
        try:
            empty(opened, "", time.monotonic() + _REMOVE_S)
        finally:
            os.close(opened)
        os.rmdir(folder.name, dir_fd=parent)
    finally:
        os.close(parent)
