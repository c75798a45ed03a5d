"""Becomes a bash on a terminal of its own: `python -I -S launcher.py <commands fd> <terminal fd> <status fd>`.

A program of its own, because what it does must happen between fork and exec, where a threaded parent may run nothing.
Bash becomes the reaper of all its orphans, so that no daemonised grandchild escapes a walk over its descendants.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import sys
import termios

STATUS_FD = 250
TERMINAL_FD = 251
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    commands, terminal, status = (int(argument) for argument in sys.argv[1:4])
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.dup2(status, STATUS_FD)
    os.dup2(terminal, TERMINAL_FD)
    os.dup2(terminal, 1)
    os.dup2(terminal, 2)
    os.dup2(commands, 0)
    os.closerange(3, STATUS_FD)
    os.execvp("bash", ["bash", "--noprofile", "--norc", "--noediting", "-i"])


if __name__ == "__main__":
    main()
