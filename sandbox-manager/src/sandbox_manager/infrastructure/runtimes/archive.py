"""Packs a workspace into an archive and back. A program of its own: it runs shut in beside nothing but the two folders.

    python -I -c <this file> pack|unpack|mend|drop WORKSPACE ARCHIVES NAME MAX_BYTES MAX_FILES

It writes one line of JSON and is done. Unpacking is whole or not at all: everything is unpacked into `STAGE` first;
then a file there says that it is complete, and from then on an interrupted exchange is carried on by `mend`, never
undone.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import json
import os
import shutil
import stat
import sys
import tarfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

STAGE = ".agent-restore"
KEPT = frozenset({".agent", ".transcripts", ".tasks", ".team"})  # the system's own, neither packed nor replaced
_BLOCK = 256 * 1024
_DEEPEST = 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ArchiveError(Exception):
    """`code` tells the manager what went wrong, the text a person."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class Entry(NamedTuple):
    """One name in the workspace; `folder` is open while the entry is in hand."""

    folder: int
    name: str
    path: str
    found: os.stat_result


class Counted:
    """Bounds what goes through. Raises `ArchiveError`."""

    def __init__(self, max_bytes: int, max_files: int) -> None:
        self.max_bytes, self.max_files = max_bytes, max_files
        self.bytes = self.files = 0

    def file(self) -> None:
        self.files += 1
        if self.files > self.max_files:
            raise ArchiveError("too_large", f"There are more than {self.max_files:,} files, too many for a snapshot.")

    def add(self, size: int, path: str) -> None:
        self.bytes += size
        if self.bytes > self.max_bytes:
            limit = f"{self.max_bytes / 1024 / 1024:,.0f} MB"
            raise ArchiveError("too_large", f"The files are larger than a snapshot may be ({limit}; at {path}).")


class _Exactly:
    """A file that has exactly so many bytes, whatever is being done to it meanwhile."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        piece = self._file.read(wanted)
        self._left -= wanted
        return piece + b"\0" * (wanted - len(piece))


def entries(folder: int, prefix: str = "") -> Iterator[Entry]:
    """Everything below an open folder, parents first. What goes away meanwhile is left out; no symlink is followed."""
    if prefix.count("/") > _DEEPEST:
        raise ArchiveError("too_large", f"Folders are nested deeper than {_DEEPEST}, too deep for a snapshot.")
    for name in sorted(os.listdir(folder)):
        if not prefix and (name in KEPT or name == STAGE):
            continue
        path = f"{prefix}{name}"
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            yield Entry(folder, name, path, found)
            if stat.S_ISDIR(found.st_mode):
                inner = os.open(name, _FOLDER, dir_fd=folder)
                try:
                    yield from entries(inner, f"{path}/")
                finally:
                    os.close(inner)


def pack(workspace: Path, target: Path, counted: Counted) -> None:
    """Write the archive of a workspace; nothing is left of one that fails."""
    draft = target.with_suffix(".part")
    root = os.open(workspace, _FOLDER)
    try:
        # Looked over first, so that what is too large is refused before it is read.
        looked = Counted(counted.max_bytes, counted.max_files)
        for entry in entries(root):
            looked.file()
            looked.add(entry.found.st_size if stat.S_ISREG(entry.found.st_mode) else 0, entry.path)
        with open(draft, "wb", opener=_private) as raw:
            with gzip.GzipFile("", "wb", 1, raw) as packed, tarfile.open(None, "w|", packed) as archive:
                links: dict[tuple[int, int], str] = {}
                for entry in entries(root):
                    _pack_entry(archive, entry, links, counted)
            raw.flush()
            os.fsync(raw.fileno())
        draft.replace(target)
    finally:
        os.close(root)
        draft.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _pack_entry(archive: tarfile.TarFile, entry: Entry, links: dict[tuple[int, int], str], counted: Counted) -> None:
    found = entry.found
    info = tarfile.TarInfo(entry.path)
    info.mode, info.mtime = stat.S_IMODE(found.st_mode) & 0o777, int(found.st_mtime)
    if stat.S_ISDIR(found.st_mode):
        info.type = tarfile.DIRTYPE
    elif stat.S_ISLNK(found.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(entry.name, dir_fd=entry.folder)
    elif not stat.S_ISREG(found.st_mode):
        return  # sockets, pipes and devices mean nothing once their program is gone
    elif (found.st_dev, found.st_ino) in links:
        info.type, info.linkname = tarfile.LNKTYPE, links[found.st_dev, found.st_ino]
    else:
        _pack_file(archive, info, entry, links, counted)
        return
    counted.file()
    archive.addfile(info)


def _pack_file(
    archive: tarfile.TarFile, info: tarfile.TarInfo, entry: Entry, links: dict[tuple[int, int], str], counted: Counted
) -> None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    with os.fdopen(os.open(entry.name, flags, dir_fd=entry.folder), "rb", 0) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            return
        counted.file()
        counted.add(found.st_size, entry.path)
        info.size = found.st_size
        archive.addfile(info, _Exactly(file, found.st_size))
        if found.st_nlink > 1:
            links[found.st_dev, found.st_ino] = entry.path


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
                opened = os.open(name, _FOLDER, dir_fd=folder)
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
        folder = os.open(self._root, _FOLDER)
        try:
            for part in parents:
                inner = os.open(part, _FOLDER, dir_fd=folder)
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
    try:
        shutil.rmtree(folder)
    except PermissionError:
        folder.chmod(stat.S_IRWXU)
        for place, folders, _ in os.walk(folder):
            for name in folders:
                if not Path(place, name).is_symlink():
                    Path(place, name).chmod(stat.S_IRWXU)
        shutil.rmtree(folder)


def run(arguments: list[str]) -> dict[str, object]:
    """Do what the arguments say; the answer is for the manager."""
    verb, workspace, archives, name, max_bytes, max_files = arguments
    counted = Counted(int(max_bytes), int(max_files))
    target = Path(archives) / f"{name}.tar.gz"
    if verb == "pack":
        if not Path(workspace).is_dir() or KEPT.issuperset(os.listdir(workspace)):
            raise ArchiveError("empty", "There are no files yet.")
        pack(Path(workspace), target, counted)
        return {"bytes": target.stat().st_size, "content_bytes": counted.bytes, "files": counted.files}
    if verb == "unpack":
        unpack(Path(workspace), target, counted)
    elif verb == "mend":
        mend(Path(workspace))
    else:
        for one in (target, target.with_suffix(".part")):
            one.unlink(missing_ok=True)
    return {}


def main() -> None:
    """The program."""
    try:
        answer = run(sys.argv[1:])
    except ArchiveError as error:
        answer = {"code": error.code, "detail": str(error)}
    except (tarfile.TarError, gzip.BadGzipFile, EOFError):
        answer = {"code": "damaged", "detail": "The snapshot's archive is damaged."}
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        told = error.strerror or type(error).__name__
        answer = {
            "code": "full" if full else "failed",
            "detail": f"{told}: {error.filename}" if error.filename else told,
        }
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
