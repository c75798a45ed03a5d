"""A shell on a remote host, by what its server sends and when."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from backend_api.targets.ssh.shells import RemoteShell


class _Server:
    """The process of a shell: ready at once, and at an end with the first command."""

    def __init__(self, status: int | None) -> None:
        self.stdin = self.stdout = self
        self.exit_status: int | None = None
        self.exit_signal: None = None
        self._status = status
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._nonce = b""

    def write(self, data: bytes) -> None:
        if not self._nonce:
            self._nonce = data.partition(b"\0")[0]
            self._pieces.put_nowait(b"\x1e%s ready 7\x1e" % self._nonce)
        else:
            self._pieces.put_nowait(b"")

    async def read(self, most: int) -> bytes:
        del most
        return await self._pieces.get()

    async def wait_closed(self) -> None:
        """How it ended is told after the last of the output, if at all."""
        self.exit_status = self._status

    async def create_process(self, command: str, *, encoding: None) -> _Server:
        del command, encoding
        return self


@pytest.mark.parametrize(("status", "is_lost"), [(4, False), (None, True)])
async def test_how_a_shell_ended_may_be_told_after_its_output(status: int | None, is_lost: bool) -> None:
    shell = await RemoteShell.start("main", cast("Any", _Server(status)), "/")
    command = shell.run("exit 4")
    while not command.is_finished:
        assert await command.wait_for_change(5)
    assert (command.exit_code, command.is_lost) == (status, is_lost)
