"""The folders files may be touched in, and a walk that can't be led out of them.

Every step of a path opens one folder by its parent's descriptor without following links; links are resolved here, by
hand, so that what was checked is what is used, however the folders change meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from tool_api.errors import PathForbiddenError
from tool_api.shown_names import find_name, shown_name

_MAX_LINKS = 40
_FOLDER_FLAGS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class NotRegularError(OSError):
    """Neither a file nor a folder: a pipe, a socket, a device."""


@dataclass(frozen=True, slots=True)
class Located:
    """A place inside the workspace: a descriptor of its folder and a name in it (`.` for a root itself). `path` is the
    way to it as text, which finds it again; the name on the disk need not be text."""

    folder: int
    name: str
    path: str

    @property
    def is_root(self) -> bool:
        return self.name == "."

    def stat(self) -> os.stat_result:
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)

    def open(self, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
        """Open the regular file; a folder raises `IsADirectoryError`, anything else `NotRegularError` or the kernel's
        error. Never blocks, neither on a pipe's other end nor on a lease."""
        fd = os.open(self.name, flags | _FILE_FLAGS, mode, dir_fd=self.folder)
        kind = os.fstat(fd).st_mode
        if stat.S_ISREG(kind):
            return fd
        os.close(fd)
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(f"{self.path} is a folder")
        raise NotRegularError(f"{self.path} is not a regular file")

    def open_folder(self) -> int:
        """A readable descriptor of the folder itself."""
        return os.open(self.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.folder)

    def write(self, data: bytes) -> None:
        """Replace the file's content as one step, keeping its mode."""
        try:
            found: os.stat_result | None = self.stat()
        except FileNotFoundError:
            found = None
        if found is not None and not stat.S_ISREG(found.st_mode):
            raise IsADirectoryError(f"{self.path} is not a regular file")
        temporary = f".{secrets.token_hex(8)}.part"
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE_FLAGS, 0o666, dir_fd=self.folder)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                if found is not None:
                    os.fchmod(fd, stat.S_IMODE(found.st_mode))
            os.rename(temporary, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=self.folder)
            raise


class Workspace:
    """The workspace and, for tools, further folders. Paths are relative to the workspace, or absolute inside a root."""

    def __init__(self, root: Path, *others: Path) -> None:
        self._roots = [(given, given.resolve()) for given in (root, *others)]
        self.root = root

    @contextlib.contextmanager
    def locate(self, path: str, *, follow: bool = True, make_folders: bool = False) -> Generator[Located]:
        """The place a path leads to; its last part need not exist. Links are resolved, a last one only if `follow` is
        true.

        Raises:
            PathForbiddenError: it leads out of the roots.
            OSError: a folder on the way is missing or is no folder.
        """
        walk = _Walk(self._roots, make_folders=make_folders)
        try:
            yield walk.go(path, follow=follow)
        finally:
            walk.close()


class _Walk:
    def __init__(self, roots: list[tuple[Path, Path]], *, make_folders: bool) -> None:
        self._roots = roots
        self._make_folders = make_folders
        self._folders: list[int] = []
        self._names: list[str] = []
        self._prefix = ""

    def close(self) -> None:
        for fd in self._folders:
            os.close(fd)
        self._folders.clear()

    def go(self, path: str, *, follow: bool) -> Located:
        if "\0" in path:
            raise PathForbiddenError("The path contains a NUL character.")
        todo = self._enter(path)
        links = 0
        while todo:
            part = todo.popleft()
            if part == "..":
                self._ascend(path)
                continue
            is_last = not todo
            found = self._stat_part(part)
            if found is None and (same := find_name(self._folders[-1], part)) is not None:
                part, found = same, self._stat_part(same)
            if found is not None and stat.S_ISLNK(found.st_mode) and (follow or not is_last):
                links += 1
                if links > _MAX_LINKS:
                    raise PathForbiddenError(f"{path} goes through too many symbolic links.")
                todo = self._through_link(part, todo)
                continue
            if is_last:
                return Located(self._folders[-1], part, self._path_text(part))
            self._descend(part, may_make=found is None and ".." not in todo)
        return Located(self._folders[-1], ".", self._path_text(None))

    def _enter(self, path: str) -> deque[str]:
        """Start at the right root; returns the parts left to walk."""
        if not path.startswith("/"):
            self._restart(0)
            return _parts(path)
        parts = _parts(path)
        for index, pair in enumerate(self._roots):
            for root in pair:
                root_parts = root.parts[1:]
                if tuple(parts)[: len(root_parts)] == root_parts:
                    self._restart(index)
                    return deque(list(parts)[len(root_parts) :])
        raise PathForbiddenError(f"{path} is outside of the workspace.")

    def _restart(self, index: int) -> None:
        self.close()
        self._names.clear()
        self._prefix = "" if index == 0 else f"{self._roots[index][0]}/"
        self._folders.append(os.open(self._roots[index][1], os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))

    def _ascend(self, path: str) -> None:
        if len(self._folders) == 1:
            raise PathForbiddenError(f"{path} points outside the workspace.")
        os.close(self._folders.pop())
        self._names.pop()

    def _stat_part(self, part: str) -> os.stat_result | None:
        try:
            return os.stat(part, dir_fd=self._folders[-1], follow_symlinks=False)
        except FileNotFoundError:
            return None

    def _through_link(self, part: str, rest: deque[str]) -> deque[str]:
        target = os.readlink(part, dir_fd=self._folders[-1])
        parts = self._enter(target) if target.startswith("/") else _parts(target)
        return parts + rest

    def _descend(self, part: str, *, may_make: bool) -> None:
        if may_make and self._make_folders:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=self._folders[-1])
        self._folders.append(os.open(part, _FOLDER_FLAGS, dir_fd=self._folders[-1]))
        self._names.append(shown_name(part))

    def _path_text(self, last: str | None) -> str:
        names = [*self._names, shown_name(last)] if last is not None else self._names
        return f"{self._prefix}{'/'.join(names)}" or "."


def _parts(path: str) -> deque[str]:
    return deque(part for part in path.split("/") if part not in ("", "."))
