"""Runs a program, and ends when it does: `python -I -S launcher.py <command> <argument>...`.

It reaps all orphans of the program, so that none of them escapes a walk over its descendants, and ends what the program
leaves behind.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    # uvloop leaks its own ends of the pipes into its children, so that the pipes would never close.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    command = sys.argv[1:]
    try:
        program = os.posix_spawnp(command[0], command, os.environ)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return 127
    # From now on only the program holds its input and output, which close with it. Standard error stays open.
    os.closerange(0, 2)
    ended, status = os.wait()
    while ended != program:
        ended, status = os.wait()
    while _end_children():
        pass
    return os.waitstatus_to_exitcode(status) & 0xFF


def _end_children() -> bool:
    """Kill all children, and reap one; False if there is none. Orphans of a child become children."""
    with open(f"/proc/self/task/{os.getpid()}/children", "rb") as children:
        for child in children.read().split():
            os.kill(int(child), signal.SIGKILL)
    try:
        os.wait()
    except ChildProcessError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
