"""An archive into a workspace, all or none."""

from __future__ import annotations

import contextlib
import gzip
import os
import tarfile
import time
from collections.abc import Generator
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.archive.bounds import FOLDER, KEPT, STAGE, ArchiveError, Counted
from sandbox_manager.infrastructure.runtimes.archive.removal import empty, open_folder

_BLOCK = 256 * 1024
_REMOVE_S = 200.0


def unpack(workspace: Path, source: Path, counted: Counted) -> None:
    """Exchange the workspace's files for the archive's, all or none. Nothing else may write to the workspace."""
    mend(workspace)
    if not source.is_file():
        raise ArchiveError("missing", "The snapshot's archive is gone.")
    stage = workspace / STAGE
    owner = workspace.lstat()
    fresh = stage / "new"
    try:
        fresh.mkdir(parents=True, mode=0o700)
        with gzip.open(source) as packed, tarfile.open(None, "r|", packed) as archive:
            _Unpacking(fresh, owner.st_uid, owner.st_gid, counted).all_of(archive)
        complete = os.open(stage / "complete", os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
        os.fsync(complete)
        os.close(complete)
    except BaseException:
        (stage / "complete").unlink(missing_ok=True)
        remove_tree(stage)
        raise
    mend(workspace)


def mend(workspace: Path) -> None:
    """Bring an interrupted exchange to its end: on when the new files were complete, else back."""
    stage = workspace / STAGE
    if stage.is_symlink() or stage.is_file():
        stage.unlink()
    if not stage.exists():
        return
    if (stage / "complete").exists():
        (stage / "old").mkdir(exist_ok=True)
        for name in os.listdir(workspace):
            if name not in KEPT and name != STAGE:
                (workspace / name).rename(stage / "old" / name)
        (stage / "complete").rename(stage / "emptied")
    if (stage / "emptied").exists():
        for name in os.listdir(stage / "new"):
            (stage / "new" / name).rename(workspace / name)
        (stage / "emptied").unlink()
    remove_tree(stage)


class _Unpacking:
    """Every step goes through open folders and follows no symlink, whatever an archive says."""

    def __init__(self, root: Path, uid: int, gid: int, counted: Counted) -> None:
        self._root, self._uid, self._gid, self._counted = root, uid, gid, counted
        self._folders: list[tuple[str, int, float]] = []

    def all_of(self, archive: tarfile.TarFile) -> None:
        for info in archive:
            self._counted.file()
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
        for path, mode, mtime in reversed(self._folders):  # last, or a folder could not be written to
            with self._folder_of(path) as (folder, name):
                opened = os.open(name, FOLDER, dir_fd=folder)
                os.fchmod(opened, mode & 0o777)
                os.utime(opened, (mtime, mtime))
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
                    file.write(piece)
            file.truncate(info.size)
            os.fchown(file.fileno(), self._uid, self._gid)
            os.fchmod(file.fileno(), info.mode & 0o777)
            os.utime(file.fileno(), (info.mtime, info.mtime))

    @contextlib.contextmanager
    def _folder_of(self, path: str) -> Generator[tuple[int, str]]:
        *parents, name = path.rstrip("/").split("/")
        if any(part in ("", ".", "..") for part in (*parents, name)) or (parents or [name])[0] in (*KEPT, STAGE):
            raise ArchiveError("damaged", "The snapshot holds a path it can not hold.")
        folder = os.open(self._root, FOLDER)
        try:
            for part in parents:
                inner = os.open(part, FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder, name
        finally:
            os.close(folder)


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
