"""Sandbox of a program that parses a document, which may have been crafted to take that program over.

Once the fence is up, Python opens no file or connection and starts no program; only files of Python itself are still
read, as parts of it are loaded late.
"""

from __future__ import annotations

import mimetypes
import os
import resource
import sys
from typing import Any

MEMORY_BYTES = 640 * 1024 * 1024
CPU_S = 40
_REFUSED = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "shutil.")
_REFUSED_EVENTS = frozenset({"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.chmod"})


def limit() -> None:
    """Limit the time and memory of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def install() -> None:
    """Put up the fence for the rest of this process, once the libraries that it needs are loaded."""
    # Without this, the first type lookup of a library would read files of the machine.
    mimetypes.init(())
    of_python = tuple(f"{os.path.realpath(folder)}/" for folder in sys.path if folder)

    def judge(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _REFUSED_EVENTS or event.startswith(_REFUSED):
            raise PermissionError(f"not while a document is read: {event}")
        if event == "open":
            path, _, flags = arguments
            is_read = not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            is_of_python = isinstance(path, str) and os.path.realpath(path).startswith(of_python)
            if not (is_read and is_of_python):
                raise PermissionError("not while a document is read: a file")

    sys.addaudithook(judge)
