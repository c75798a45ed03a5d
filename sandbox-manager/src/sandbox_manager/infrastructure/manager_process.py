"""The names of managers, by which others on the same machine know when they have ended."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

_UNKNOWN = "unknown"
_MOST_DIGITS = 9
"""A process number has at most this many digits; longer ones are too large to look up."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def name_manager() -> str:
    """A new name for the manager that is this process."""
    return f"{_pid_namespace()}/{os.getpid()}/{secrets.token_hex(8)}"


def has_ended(name: str) -> bool:
    """Whether the process of this name is gone for sure. That is unknown for another machine or a container with
    processes of its own, and if its number is another process's by now."""
    namespace, _, rest = name.partition("/")
    pid = rest.partition("/")[0]
    if namespace == _UNKNOWN or namespace != _pid_namespace() or not pid.isdecimal() or len(pid) > _MOST_DIGITS:
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False  # it is there, and another user's
    return False


def _pid_namespace() -> str:
    """The pid namespace in which process numbers mean the same."""
    try:
        return f"{_BOOT_ID.read_text().strip()}:{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return _UNKNOWN
