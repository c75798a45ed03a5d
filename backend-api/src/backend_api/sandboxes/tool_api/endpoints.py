"""Connections to the endpoints of sandboxes, over TCP or a unix socket the manager made where no sandbox sees it.

Behind an endpoint anything may answer: what is read from there is read through `BoundedHttp`, or `screens.py`.
"""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from backend_api.kit.context_headers import add_context_headers
from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import NotOnRemoteHostError, SandboxUnavailableError
from contracts.sandboxes import EndpointToken
from service_kit.bounded_http import Answer, BoundedHttp, Bounds, StreamedAnswer

MAX_ENDPOINTS = 500
CONNECT_DEADLINE_S = 5.0
# No endpoint speaks it; a client would read all the certificates of the machine for each, which holds everybody up.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class EndpointTokens(Protocol):
    """Where endpoint tokens come from."""

    async def token(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        """Raises `SandboxUnavailableError`."""
        ...

    def forget(self, sandbox: Sandbox) -> None:
        """The endpoint refused or did not answer: ask anew next time."""
        ...


class SafeSocket:
    """A unix socket held by its inode: a path that later becomes a link to another socket changes nothing."""

    def __init__(self, path: str) -> None:
        try:
            self._fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise SandboxUnavailableError("The computer's endpoint does not exist.") from error
        if not stat.S_ISSOCK(os.fstat(self._fd).st_mode):
            os.close(self._fd)
            raise SandboxUnavailableError("The computer's endpoint is not a socket.")

    @property
    def path(self) -> str:
        """A path that leads to this very inode, for this process."""
        return f"/proc/self/fd/{self._fd}"

    def close(self) -> None:
        os.close(self._fd)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint with its token for one kind of use."""

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


@dataclass(slots=True)
class _Pool:
    """Connections to one endpoint. `users` are the calls that go over them now."""

    http: BoundedHttp
    address: str
    socket: SafeSocket | None
    users: int = 0
    is_retired: bool = False

    async def aclose(self) -> None:
        try:
            await self.http.aclose()
        finally:
            if self.socket is not None:
                self.socket.close()


class Endpoints:
    """Keeps one warm connection pool a sandbox; an async context manager.

    A pool that others shall not use any more is retired: calls under way end over it, and the last of them closes it.
    """

    def __init__(self, tokens: EndpointTokens, most: int = MAX_ENDPOINTS) -> None:
        self._tokens = tokens
        self._most = most
        self._pools: dict[tuple[str, int], _Pool] = {}

    async def __aenter__(self) -> Endpoints:
        return self

    async def __aexit__(self, *_: object) -> None:
        pools = list(self._pools.values())
        self._pools.clear()
        await _close(pools)

    @asynccontextmanager
    async def open(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> AsyncGenerator[Endpoint]:
        """For one call, which is over at the end of the block. Raises `SandboxUnavailableError`, and
        `NotOnRemoteHostError` for a computer that has no endpoint."""
        if sandbox.is_remote_host:
            raise NotOnRemoteHostError.of_session()
        token = await self._tokens.token(sandbox, scopes)
        pool, idle = self._pool_at(token.endpoint, sandbox)
        pool.users += 1
        try:
            await _close(idle)
            yield Endpoint(pool.http, token.token)
        finally:
            pool.users -= 1
            if pool.is_retired and not pool.users:
                await pool.aclose()

    async def address(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        """Token and address, for connections that are not HTTP calls. Raises as `open`."""
        if sandbox.is_remote_host:
            raise NotOnRemoteHostError.of_session()
        return await self._tokens.token(sandbox, scopes)

    def refuse(self, sandbox: Sandbox) -> None:
        """The endpoint refused the token: take a new one next time, over the same connections."""
        self._tokens.forget(sandbox)

    async def forget(self, sandbox: Sandbox) -> None:
        """The endpoint did not answer: the next call asks where it is, and opens connections of its own."""
        self._tokens.forget(sandbox)
        await _close(self._retire((sandbox.id, sandbox.generation)))

    def _pool_at(self, address: str, sandbox: Sandbox) -> tuple[_Pool, list[_Pool]]:
        """The pool, and those to close for it. Without waiting, so that two who come at once get the same."""
        key = (sandbox.id, sandbox.generation)
        found, idle = self._pools.pop(key, None), list[_Pool]()
        if found is not None and found.address != address:
            found.is_retired = True
            if not found.users:
                idle.append(found)
            found = None
        if found is None:
            found = _open(address, sandbox)
            idle += self._make_room()
        # The one used last stands last.
        self._pools[key] = found
        return found, idle

    def _make_room(self) -> list[_Pool]:
        """Those in use stay, however many: there are no more of them than calls."""
        spare = len(self._pools) - self._most + 1
        unused = [key for key, pool in self._pools.items() if not pool.users]
        return [pool for key in unused[: max(spare, 0)] for pool in self._retire(key)]

    def _retire(self, key: tuple[str, int]) -> list[_Pool]:
        """It, where nobody uses it: then it is the caller's to close."""
        if (pool := self._pools.pop(key, None)) is None:
            return []
        pool.is_retired = True
        return [] if pool.users else [pool]


async def _close(pools: Iterable[_Pool]) -> None:
    """All of them, also where one fails or this is cancelled in the middle: nobody else would."""
    async with AsyncExitStack() as closing:
        for pool in pools:
            closing.push_async_callback(pool.aclose)


def _open(address: str, sandbox: Sandbox) -> _Pool:
    limits = httpx.Limits(max_connections=100, max_keepalive_connections=10, keepalive_expiry=60.0)
    if address.startswith("unix:"):
        socket = SafeSocket(address.removeprefix("unix:"))
        transport = httpx.AsyncHTTPTransport(uds=socket.path, limits=limits, verify=_NO_TLS)
    else:
        socket, transport = None, httpx.AsyncHTTPTransport(limits=limits, verify=_NO_TLS)
    http = BoundedHttp(
        transport,
        base_url="http://endpoint" if socket is not None else address,
        connect_s=CONNECT_DEADLINE_S,
        fields={"sandbox_id": sandbox.id, "session_id": sandbox.session_id},
        hook=add_context_headers,
    )
    return _Pool(http, address, socket)
