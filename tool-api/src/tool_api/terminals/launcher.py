"""Becomes an interactive bash on a terminal: `python -I -S launcher.py <terminal fd>`.

A program of its own, because what it does must happen between fork and exec, where a threaded parent may run nothing.
Bash becomes the reaper of all its orphans, so that no daemonised grandchild escapes a walk over its descendants.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import sys
import termios

_PR_SET_CHILD_SUBREAPER = 36
# A prompt and colours for who has no settings of their own; theirs come last.
_START = rb"""
exec 3<&-
[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
PS1='\[\e[1;32m\]\w\[\e[0m\] \$ '
alias ls='ls --color=auto' grep='grep --color=auto'
[ -r ~/.bashrc ] && . ~/.bashrc
"""


def main() -> None:
    terminal = int(sys.argv[1])
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (0, 1, 2):
        os.dup2(terminal, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    start, write_end = os.pipe()
    os.write(write_end, _START)
    os.close(write_end)
    if start != 3:
        os.dup2(start, 3)
        os.close(start)
    os.set_inheritable(3, True)
    os.execvp("bash", ["bash", "--rcfile", "/dev/fd/3", "-i"])


if __name__ == "__main__":
    main()
