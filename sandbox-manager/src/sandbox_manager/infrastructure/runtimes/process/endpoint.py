"""The socket of a sandbox's endpoint: made outside, in a folder no sandbox sees, and handed over open.

Programs inside can answer on it or not; they can neither replace it nor lead a connection elsewhere.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

NAME = "door.sock"
_WAITING = 128


def listening_socket(folder: Path) -> socket.socket:
    """A new listening socket in the folder, for its owner alone. Raises `OSError`."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        held = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            listener.bind(f"/proc/self/fd/{held}/{NAME}")  # the folder's own path may be longer than a socket's
            os.chmod(NAME, 0o600, dir_fd=held)
        finally:
            os.close(held)
        listener.listen(_WAITING)
    except BaseException:
        listener.close()
        raise
    return listener
