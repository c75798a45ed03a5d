"""The input and output of a shell: a terminal of its own, or pipes if the machine has no terminal left."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from dataclasses import dataclass

_ROWS, _COLUMNS = 40, 160


@dataclass(frozen=True, slots=True)
class Streams:
    """Open files: ours, and the shell's. Of a terminal both of ours are one, and both of the shell's."""

    keys: int
    output: int
    shell_input: int
    shell_output: int

    @property
    def is_terminal(self) -> bool:
        return self.keys == self.output

    @property
    def ours(self) -> set[int]:
        return {self.keys, self.output}

    @property
    def shells(self) -> set[int]:
        return {self.shell_input, self.shell_output}


def open_streams() -> Streams:
    """A terminal; pipes where all that there are, which a machine's sandboxes share, are taken. Raises `OSError`."""
    try:
        ours, shells = os.openpty()
    except OSError:
        return _pipes()
    try:
        _prepare_terminal(shells)
    except BaseException:
        os.close(ours)
        os.close(shells)
        raise
    return Streams(ours, ours, shells, shells)


def _pipes() -> Streams:
    shell_input, keys = os.pipe()
    try:
        output, shell_output = os.pipe()
    except BaseException:
        os.close(shell_input)
        os.close(keys)
        raise
    return Streams(keys, output, shell_input, shell_output)


def _prepare_terminal(slave: int) -> None:
    attributes = termios.tcgetattr(slave)
    attributes[0] &= ~termios.IXON
    attributes[1] &= ~termios.ONLCR
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
