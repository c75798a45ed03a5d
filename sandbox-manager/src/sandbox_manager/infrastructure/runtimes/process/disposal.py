"""Removal of things from a deployment's folder: set aside by their plain names, then taken apart.

folder/gone/<kind>:<name>:<owner>:<token>   what is being removed; the owner is the uid it had on the host

A thing set aside belongs to nobody any more, so that the next call continues a removal that failed or was cut off.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.archive.bounds import FOLDER
from sandbox_manager.infrastructure.runtimes.archive.removal import empty, move_aside

_log = logging.getLogger(__name__)

_GONE = "gone"


class Disposal:
    """Removes entries of the folder's own kinds of things. `freed` is called with each owner that has none left."""

    def __init__(self, folder: Path, freed: Callable[[int], None]) -> None:
        self._folder = folder
        self._freed = freed
        self._at_work: set[str] = set()
        self._lock = threading.Lock()
        (folder / _GONE).mkdir(mode=0o700, exist_ok=True)

    def remove(self, kind: str, name: str, until: float) -> None:
        """Remove `folder/kind/name`, whatever it is and holds; does nothing if there is none.

        It ends by `until` of `time.monotonic`, or continues with the next call. `name` is one name, of an identifier.
        Raises `OSError` if something of it is left.
        """
        thing = f"{kind}:{name}:"
        with self._open_folders() as (folder, gone), self._mark_busy(thing):
            source = os.open(kind, FOLDER, dir_fd=folder)
            try:
                owner = os.stat(name, dir_fd=source, follow_symlinks=False).st_uid
                move_aside(source, name, gone, f"{thing}{owner}:{secrets.token_hex(8)}")
            except FileNotFoundError:
                pass
            finally:
                os.close(source)
            for prefix in _prefixes(gone):
                if prefix.startswith(thing):
                    self._finish(gone, prefix, until)

    def carry_on(self, within_s: float) -> None:
        """Continue removals that nobody here works on; failures are logged and left for the next time."""
        until = time.monotonic() + within_s
        with self._open_folders() as (_, gone):
            for prefix in _prefixes(gone):
                if _name_prefix(prefix) in self._at_work:
                    continue
                try:
                    self._finish(gone, prefix, until)
                except OSError as error:
                    _log.warning("remains not removed yet", extra={"remains": prefix, "reason": error.strerror})

    def _finish(self, gone: int, prefix: str, until: float) -> None:
        empty(gone, prefix, until)
        owner = prefix.split(":")[-2]
        if owner.isdigit():
            self._freed(int(owner))

    @contextlib.contextmanager
    def _open_folders(self) -> Generator[tuple[int, int]]:
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            gone = os.open(_GONE, FOLDER, dir_fd=folder)
            try:
                yield folder, gone
            finally:
                os.close(gone)
        finally:
            os.close(folder)

    @contextlib.contextmanager
    def _mark_busy(self, thing: str) -> Generator[None]:
        with self._lock:
            self._at_work.add(thing)
        try:
            yield
        finally:
            with self._lock:
                self._at_work.discard(thing)


def _prefixes(gone: int) -> list[str]:
    """The distinct prefixes of the names of removals."""
    with os.scandir(gone) as entries:
        return sorted({f"{entry.name.rpartition(':')[0]}:" for entry in entries})


def _name_prefix(prefix: str) -> str:
    return ":".join([*prefix.split(":")[:-2], ""])
