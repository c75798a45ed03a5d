"""The process of a kernel, and the sockets it is reached by."""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_MAX_SAID = 4000
_CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
_PYTHONS = ("python", "python3")
_LAUNCHER = Path(__file__).parent.with_name("python_launcher.py")
_LONGEST_PATH = 80
"""Characters of the folder: a socket's path has at most 107."""


def adopt_orphans() -> None:
    """Become the parent of all that a kernel leaves behind, and end with the process that started this one."""
    library = ctypes.CDLL(None)
    library.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class KernelProcess:
    """Sockets are files in a folder of this user alone: no other user, no page of a browser and no other sandbox can
    reach them, as they could a port."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start it. Raises `OSError`."""
        self.key = secrets.token_hex(32)
        self._folder = _folder()
        connection = self._folder / "connection.json"
        ports = {f"{channel}_port": number for number, channel in enumerate(_CHANNELS, 1)}
        described = {
            "transport": "ipc",
            "ip": str(self._folder / "channel"),
            "key": self.key,
            "signature_scheme": "hmac-sha256",
            "kernel_name": "",
            **ports,
        }
        connection.write_text(json.dumps(described))
        command = [part.replace("{connection_file}", str(connection)) for part in argv]
        if command[0] in (*_PYTHONS, sys.executable):
            command = _launched(command[1:], self._folder)
        library = ctypes.CDLL(None)

        def end_with_parent() -> None:
            library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

        self._process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
        assert self._process.stdout is not None
        self.stray_fd = self._process.stdout.fileno()
        os.set_blocking(self.stray_fd, False)
        self._said = b""
        self.exit_code: int | None = None

    def address(self, channel: str) -> str:
        return f"ipc://{self._folder / 'channel'}-{_CHANNELS.index(channel) + 1}"

    def interrupt(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGINT)

    def reap(self) -> None:
        """Take the exit codes of all that has ended: its own, and those of orphans."""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self._process.pid:
                    self.exit_code = self._process.returncode = os.waitstatus_to_exitcode(found[1])

    def read_stray_output(self) -> bool:
        """Keep the end of what it wrote past the protocol; False where nothing will come any more."""
        try:
            data = os.read(self.stray_fd, 65536)
        except BlockingIOError:
            return True
        self._said = (self._said + data)[-_MAX_SAID:]
        return bool(data)

    @property
    def said(self) -> str:
        return self._said.decode("utf-8", "replace").strip()

    def remove_folder(self) -> None:
        for file in self._folder.iterdir():
            with suppress(OSError):
                file.unlink()
        with suppress(OSError):
            self._folder.rmdir()


def _launched(arguments: list[str], folder: Path) -> list[str]:
    options = list(takewhile(lambda one: one.startswith("-") and one[:2] not in ("-m", "-c"), arguments))
    rest = arguments[len(options) :]
    launcher = [str(_LAUNCHER), str(folder)] if rest and not rest[0].startswith("-c") else []
    return [sys.executable, *options, *launcher, *rest]


def _folder() -> Path:
    folder = tempfile.gettempdir()
    return Path(tempfile.mkdtemp(prefix="kernel-", dir=folder if len(folder) < _LONGEST_PATH else "/tmp"))
