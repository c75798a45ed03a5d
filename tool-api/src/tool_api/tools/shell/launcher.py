"""Becomes a bash on a terminal or pipes: `python -I -S launcher.py <commands fd> <input fd> <output fd> <status fd>`.

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
OUTPUT_FD = 251
INPUT_FD = 252
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    commands, keys, output, status = (int(argument) for argument in sys.argv[1:5])
    is_terminal = os.isatty(output)
    if is_terminal:
        fcntl.ioctl(output, termios.TIOCSCTTY, 0)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.dup2(status, STATUS_FD)
    os.dup2(output, OUTPUT_FD)
    os.dup2(keys, INPUT_FD)
    os.dup2(output, 1)
    # Without a terminal bash warns of that at its start; its first commands redirect its errors here later.
    if is_terminal:
        os.dup2(output, 2)
    os.dup2(commands, 0)
    os.closerange(3, STATUS_FD)
    os.execvp("bash", ["bash", "--noprofile", "--norc", "--noediting", "-i"])


if __name__ == "__main__":
    main()
