"""Connections to the doors of sandboxes, over TCP or a unix socket the sandbox may have tampered with.

Behind a door anything may answer: what is read from there is read through `BoundedHttp`, or `screens.py`.
"""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from backend_api.domain.sandbox.entity import Computer, Scope
from backend_api.domain.sandbox.errors import ComputerUnavailableError
from backend_api.infrastructure.passing_on import pass_on
from contracts.bounded_http import Answer, BoundedHttp, Bounds, StreamedAnswer
from contracts.sandboxes import DoorToken

MAX_DOORS = 500
CONNECT_DEADLINE_S = 5.0
# No door speaks it; a client would read all the certificates of the machine for each, which holds everybody up.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class DoorTokens(Protocol):
    """Where door tokens come from."""

    async def token(self, computer: Computer, scopes: Iterable[Scope]) -> DoorToken:
        """Raises `ComputerUnavailableError`."""
        ...

    def forget(self, computer: Computer) -> None:
        """The door refused or did not answer: ask anew next time."""
        ...


class SafeSocket:
    """A unix socket held by its inode: a path that later becomes a link to another socket changes nothing."""

    def __init__(self, path: str) -> None:
        try:
            self._fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise ComputerUnavailableError("The door of the computer is not there.") from error
        if not stat.S_ISSOCK(os.fstat(self._fd).st_mode):
            os.close(self._fd)
            raise ComputerUnavailableError("The door of the computer is not a socket.")

    @property
    def path(self) -> str:
        """A path that leads to this very inode, for this process."""
        return f"/proc/self/fd/{self._fd}"

    def close(self) -> None:
        os.close(self._fd)


@dataclass(frozen=True, slots=True)
class Door:
    """One door with its token for one kind of use."""

    http: BoundedHttp
    token: str

    async def ask(self, method: str, path: str, bounds: Bounds, **fields: Any) -> Answer:
        """As `BoundedHttp.ask`."""
        return await self.http.ask(method, path, bounds, **self._with_token(fields))

    def stream(
        self, method: str, path: str, bounds: Bounds, **fields: Any
    ) -> AbstractAsyncContextManager[StreamedAnswer]:
        """As `BoundedHttp.stream`."""
        return self.http.stream(method, path, bounds, **self._with_token(fields))

    def _with_token(self, fields: dict[str, Any]) -> dict[str, Any]:
        return fields | {"headers": {"Authorization": f"Bearer {self.token}", **fields.get("headers", {})}}


@dataclass(frozen=True, slots=True)
class _Opened:
    http: BoundedHttp
    address: str
    socket: SafeSocket | None

    async def aclose(self) -> None:
        await self.http.aclose()
        if self.socket is not None:
            self.socket.close()


class Doors:
    """Keeps one warm connection pool a sandbox; an async context manager."""

    def __init__(self, tokens: DoorTokens) -> None:
        self._tokens = tokens
        self._opened: dict[tuple[str, int], _Opened] = {}

    async def __aenter__(self) -> Doors:
        return self

    async def __aexit__(self, *_: object) -> None:
        for opened in list(self._opened.values()):
            await opened.aclose()
        self._opened.clear()

    async def open(self, computer: Computer, scopes: Iterable[Scope]) -> Door:
        """Raises `ComputerUnavailableError`."""
        token = await self._tokens.token(computer, scopes)
        key = (computer.id, computer.generation)
        opened = self._opened.get(key)
        if opened is None or opened.address != token.door:
            await self._close(key)
            while len(self._opened) >= MAX_DOORS:
                await self._close(next(iter(self._opened)))
            opened = self._opened[key] = _open(token.door, computer)
        return Door(opened.http, token.token)

    async def address(self, computer: Computer, scopes: Iterable[Scope]) -> DoorToken:
        """Token and address, for connections that are not HTTP calls."""
        return await self._tokens.token(computer, scopes)

    def refuse(self, computer: Computer) -> None:
        """The door refused the token: take a new one next time, over the same connections."""
        self._tokens.forget(computer)

    async def forget(self, computer: Computer) -> None:
        """The door did not answer."""
        self._tokens.forget(computer)
        await self._close((computer.id, computer.generation))

    async def _close(self, key: tuple[str, int]) -> None:
        opened = self._opened.pop(key, None)
        if opened is not None:
            await opened.aclose()


def _open(address: str, computer: Computer) -> _Opened:
    limits = httpx.Limits(max_connections=100, max_keepalive_connections=10, keepalive_expiry=60.0)
    if address.startswith("unix:"):
        socket = SafeSocket(address.removeprefix("unix:"))
        transport = httpx.AsyncHTTPTransport(uds=socket.path, limits=limits, verify=_NO_TLS)
    else:
        socket, transport = None, httpx.AsyncHTTPTransport(limits=limits, verify=_NO_TLS)
    http = BoundedHttp(
        transport,
        base_url="http://door" if socket is not None else address,
        connect_s=CONNECT_DEADLINE_S,
        fields={"sandbox_id": computer.id, "session_id": computer.session_id},
        hook=pass_on,
    )
    return _Opened(http, address, socket)
