"""The first process of a sandbox: `python -I -S first_process.py <held fd or -> <program> <argument>...`.

It runs the tool API and reaps the processes of its namespace. The manager reads this process to learn a sandbox's
network, files and limits, so nothing inside may trace or read it: it makes itself undumpable before anything of the
agent's runs, and inherits the limits that hold for all of them. It imports nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_ENDED_BY_SIGNAL = 128


def main() -> int:
    held, command = sys.argv[1], sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    # Whoever waits for it outside is known to the manager by a mark; with that one it ends, too.
    for option, value in ((_PR_SET_DUMPABLE, 0), (_PR_SET_PDEATHSIG, signal.SIGKILL)):
        if libc.prctl(option, int(value), 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "the first process could not be made untraceable")
    # By default the kernel keeps signals from the inside away from the first process; Python handles some itself.
    defaults = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)
    for number in defaults:
        signal.signal(number, signal.SIG_DFL)
    if held != "-":
        os.set_inheritable(int(held), False)
    child = os.posix_spawn(command[0], command, os.environ)
    _leave_files(keep={held})
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else _ENDED_BY_SIGNAL - code


def _leave_files(keep: set[str]) -> None:
    """Close the descriptors meant for the tool API, which keeps them for itself."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and name not in keep:
            try:
                os.close(int(name))
            except OSError:
                continue


if __name__ == "__main__":
    sys.exit(main())
