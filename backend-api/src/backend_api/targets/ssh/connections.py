"""Connections to remote hosts, one per session, with its shells and its files."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from posixpath import normpath
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import asyncssh
import asyncssh.sftp

from backend_api.targets.domain import Target
from backend_api.targets.errors import HostUnusableError, RemoteHostError
from backend_api.targets.ssh.connecting import KEEPALIVE_S, Addresses, open_socket, sign_in
from backend_api.targets.ssh.shells import RemoteShell

logger = logging.getLogger(__name__)

MAX_CONNECTIONS = 500
MAX_SHELLS = 6
"""The most shells of a connection: most servers allow ten channels on one."""
IDLE_S = 600.0
SFTP_S = 15.0
CLOSE_S = 0.4
"""Seconds for which something that was ended may still talk to the host, as to close its file there."""
MAX_PACKET_BYTES = 320 * 1024
"""Of SFTP. A list of names costs much more time and memory than its bytes, which is that of everybody here."""
asyncssh.sftp.MAX_SFTP_PACKET_LEN = MAX_PACKET_BYTES
FILES_LOST = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection, asyncssh.SFTPBadMessage)
"""Errors after which there are no files on this connection any more, though it may be open."""
_Result = TypeVar("_Result")


@dataclass(slots=True, kw_only=True)
class Connected:
    """A connected host of one session. `folder` is the absolute path of its working folder."""

    session_id: str
    target: Target
    ssh: asyncssh.SSHClientConnection
    sftp: asyncssh.SFTPClient
    folder: str
    shells: dict[str, RemoteShell] = field(default_factory=dict[str, RemoteShell])
    folders: dict[str, str] = field(default_factory=dict[str, str])
    """The last folders of closed shells."""
    used_at: float = 0.0
    is_left: bool = False
    open_ports: int = 0
    """Open connections to programs that listen there."""

    @property
    def is_open(self) -> bool:
        """Whether the connection is open, as far as is known."""
        return not self.is_left and not self.ssh.is_closed()

    def leave(self) -> None:
        """Leave the connection: the next call opens one anew."""
        self.is_left = True
        self.ssh.abort()

    def lost(self, error: Exception) -> None:
        """Leave the connection if an error says that its files can't be had any more."""
        if isinstance(error, FILES_LOST):
            self.leave()

    @property
    def is_at_work(self) -> bool:
        """Whether a command runs, or an app on the host is in use."""
        if self.open_ports:
            return True
        commands = [shell.command for shell in self.shells.values() if shell.is_open]
        return any(command is not None and not command.is_finished for command in commands)

    async def close(self) -> None:
        """Close at once; programs on the host go on."""
        self.ssh.abort()
        with suppress(asyncssh.Error, OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await self.ssh.wait_closed()


async def bounded(on: Connected, work: Coroutine[Any, Any, _Result], within_s: float) -> _Result:
    """Do some work on a host. What is cut off, by the deadline or by who waits for it, may still close what it opened
    there; a host that does not answer to that either is left, with its connection. Raises `TimeoutError`."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=within_s)
        if not task.done():
            raise TimeoutError
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=CLOSE_S)
            if not task.done():
                on.leave()
                await asyncio.wait({task}, timeout=CLOSE_S)
            if task.done() and not task.cancelled():
                task.exception()


@asynccontextmanager
async def deadline(on: Connected, within_s: float) -> AsyncGenerator[None]:
    """As `bounded`, for a block. Raises `TimeoutError`."""
    leave = asyncio.get_running_loop().call_later(within_s + CLOSE_S, on.leave)
    try:
        async with asyncio.timeout(within_s):
            yield
    finally:
        leave.cancel()


class HostConnections:
    """The connections of this process; an async context manager. They are not shared: another process opens its own."""

    def __init__(
        self, addresses: Addresses, clock: Callable[[], float] = time.monotonic, *, keepalive_s: float = KEEPALIVE_S
    ) -> None:
        self._keepalive_s = keepalive_s
        self._addresses = addresses
        self._clock = clock
        self._open: dict[str, Connected] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def __aenter__(self) -> HostConnections:
        return self

    async def __aexit__(self, *_: object) -> None:
        for connected in [*self._open.values()]:
            await connected.close()
        self._open.clear()

    def find(self, session_id: str) -> Connected | None:
        """The session's open connection."""
        return self._open.get(session_id)

    async def of(self, session_id: str, target: Target, private_key: str | None) -> Connected:
        """The session's connection, opened if there is none, or if it was made for another version of the target.
        Raises `RemoteHostError`."""
        lock = self._locks.setdefault(session_id, asyncio.Lock())
        async with lock:
            found = self._open.get(session_id)
            if found is not None and found.is_open and found.target.version == target.version:
                found.used_at = self._clock()
                return found
            if found is not None:
                del self._open[session_id]
                await found.close()
            if len(self._open) >= MAX_CONNECTIONS:
                raise RemoteHostError("This server has too many connections to remote hosts. Try again later.")
            connected = await self._connect(session_id, target, private_key)
            connected.used_at = self._clock()
            self._open[session_id] = connected
            return connected

    async def _connect(self, session_id: str, target: Target, private_key: str | None) -> Connected:
        async with self.connection(target, private_key) as ssh:
            sftp, folder = await open_folder(ssh, target)
            return Connected(session_id=session_id, target=target, ssh=ssh, sftp=sftp, folder=folder)

    @asynccontextmanager
    async def connection(self, target: Target, private_key: str | None) -> AsyncGenerator[asyncssh.SSHClientConnection]:
        """A connection that stays open after the block, unless the block fails. Raises `RemoteHostError`."""
        addresses = await self._addresses.of(target.ssh.host, target.ssh.port, target.user_id)
        sock = await open_socket(addresses, target.ssh)
        ssh = await sign_in(target.ssh, sock, private_key, keepalive_s=self._keepalive_s)
        try:
            yield ssh
        except BaseException:
            ssh.abort()
            raise

    async def forget(self, session_id: str) -> None:
        """Close a connection that broke, or that nobody needs any more."""
        if (found := self._open.pop(session_id, None)) is not None:
            await found.close()

    async def close_idle_until_cancelled(self) -> None:
        """Close connections that have long been unused, and on which nothing runs."""
        while True:
            await asyncio.sleep(IDLE_S / 10)
            since = self._clock() - IDLE_S
            for session_id, connected in [*self._open.items()]:
                if not connected.is_open or (connected.used_at < since and not connected.is_at_work):
                    await self.forget(session_id)


async def open_folder(ssh: asyncssh.SSHClientConnection, target: Target) -> tuple[asyncssh.SFTPClient, str]:
    """The files of the host, and its working folder, which is created if it does not exist. Raises
    `HostUnusableError`."""
    wanted = target.ssh.folder
    try:
        async with asyncio.timeout(SFTP_S):
            sftp = await ssh.start_sftp_client()
            home = str(await sftp.realpath("."))
            folder = normpath(f"{home}/{wanted.removeprefix('~').lstrip('/')}") if wanted[:1] in ("", "~") else wanted
            await sftp.makedirs(folder, exist_ok=True)
            return sftp, str(await sftp.realpath(folder))
    except TimeoutError as error:
        raise HostUnusableError(f"The host did not start SFTP within {SFTP_S:.0f} s.") from error
    except asyncssh.SFTPError as error:
        raise HostUnusableError(f"The working folder {wanted or '~'} can't be used: {error.reason[:200]}.") from error
    except (asyncssh.Error, OSError) as error:
        raise HostUnusableError("The host has no SFTP, which is required. Turn it on in its sshd_config.") from error
