"""Commands run in a namespace of a sandbox, with the rights of its maker, which nothing inside has."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Literal

from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

SEARCHED = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
"""The search path of programs, with those of an administrator, which are not on everybody's path."""
_COMMAND_S = 10.0
_NS_GET_USERNS = 0xB701
_FLAGS = {"net": "--net", "mnt": "--mount"}


@dataclass(frozen=True, slots=True)
class NamespaceEntry:
    """A command prefix that enters a namespace, and the open files the command inherits for it."""

    prefix: list[str]
    files: list[int]

    def trouble(self, command: list[str]) -> str | None:
        """The command's error output in the namespace, if it failed."""
        return trouble([*self.prefix, *command], self.files)


def network_namespace(inside: ProcessRef) -> int:
    """The number of the process's network namespace. Raises `OSError`."""
    return os.stat(f"/proc/{inside.pid}/ns/net").st_ino


@contextlib.contextmanager
def namespace_entry(
    inside: ProcessRef, kind: Literal["net", "mnt"], expected: int | None = None
) -> Generator[NamespaceEntry]:
    """Entry into a namespace of the process: the one with the number `expected`, or no other is entered.

    Raises `OSError`, also when the process is gone.
    """
    namespace = os.open(f"/proc/{inside.pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)
    files = [namespace]
    try:
        # Never one of this machine: the process may have ended, and another have its number.
        if not inside.is_alive or os.path.samestat(os.fstat(namespace), os.stat(f"/proc/self/ns/{kind}")):
            raise ProcessLookupError("it is gone")
        if expected is not None and os.fstat(namespace).st_ino != expected:
            raise PermissionError("its first process is in another namespace than at its start")
        prefix = ["nsenter", f"{_FLAGS[kind]}=/proc/self/fd/{namespace}"]
        if os.geteuid() != 0:
            files.append(fcntl.ioctl(namespace, _NS_GET_USERNS))
            prefix += ["--preserve-credentials", f"--user=/proc/self/fd/{files[-1]}"]
        yield NamespaceEntry(prefix, files)
    finally:
        for file in files:
            os.close(file)


def trouble(command: list[str], files: Sequence[int] = ()) -> str | None:
    """The error output of a command that failed, else None. Of the manager's environment it gets only the search path:
    libraries loaded into the manager (`LD_PRELOAD`) may not work in there, and secrets stay outside."""
    try:
        done = subprocess.run(
            command,
            env={"PATH": SEARCHED},
            pass_fds=files,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else done.stderr.strip()[-500:]
