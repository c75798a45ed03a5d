"""Connections to the endpoints of sandboxes, over TCP or a unix socket the manager made where no sandbox sees it.

Anything may answer behind an endpoint: its answers are read through `BoundedHttp`, or `screens.py`.
"""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from backend_api.kit.context_headers import context_headers
from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import NotOnRemoteHostError, SandboxUnavailableError
from contracts.sandboxes import EndpointToken
from service_kit.bounded_http import Answer, BoundedHttp, Bounds, StreamedAnswer, tcp_or_socket

MAX_ENDPOINTS = 500
CONNECT_DEADLINE_S = 5.0
# No endpoint uses TLS; a client would load all the machine's certificates for each, which delays everybody.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class EndpointTokens(Protocol):
    """The source of endpoint tokens."""

    async def token(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        """Return a token. Raises `SandboxUnavailableError`."""
        ...

    def forget(self, sandbox: Sandbox) -> None:
        """Drop a token whose endpoint refused or did not answer."""
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
        """As `BoundedHttp.ask`, with the token."""
        return await self.http.ask(method, path, bounds, **self._with_token(fields))

    def stream(
        self, method: str, path: str, bounds: Bounds, **fields: Any
    ) -> AbstractAsyncContextManager[StreamedAnswer]:
        """As `BoundedHttp.stream`, with the token."""
        return self.http.stream(method, path, bounds, **self._with_token(fields))

    def _with_token(self, fields: dict[str, Any]) -> dict[str, Any]:
        return fields | {"headers": {"Authorization": f"Bearer {self.token}", **fields.get("headers", {})}}


@dataclass(slots=True)
class _Pool:
    """Connections to one endpoint. `users` counts the calls that use them now."""

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
    """Keeps one warm connection pool per sandbox; an async context manager.

    A pool that no new call may use is retired: calls in progress end over it, and the last of them closes it.
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
        """An endpoint for one call, which ends with the block. Raises `SandboxUnavailableError`, and
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
        """Drop a refused token: the next call takes a new one over the same connections."""
        self._tokens.forget(sandbox)

    async def forget(self, sandbox: Sandbox) -> None:
        """Drop an endpoint that did not answer: the next call asks for its address, and opens connections of its
        own."""
        self._tokens.forget(sandbox)
        await _close(self._retire((sandbox.id, sandbox.generation)))

    def _pool_at(self, address: str, sandbox: Sandbox) -> tuple[_Pool, list[_Pool]]:
        """The pool, and retired ones to close. It does not wait, so that two calls at once get the same pool."""
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
        # The one used last is last in order.
        self._pools[key] = found
        return found, idle

    def _make_room(self) -> list[_Pool]:
        """Retire unused pools over the limit. Those in use stay, however many: there are no more of them than calls."""
        spare = len(self._pools) - self._most + 1
        unused = [key for key, pool in self._pools.items() if not pool.users]
        return [pool for key in unused[: max(spare, 0)] for pool in self._retire(key)]

    def _retire(self, key: tuple[str, int]) -> list[_Pool]:
        """Retire the pool; returned if nobody uses it, for the caller to close."""
        if (pool := self._pools.pop(key, None)) is None:
            return []
        pool.is_retired = True
        return [] if pool.users else [pool]


async def _close(pools: Iterable[_Pool]) -> None:
    """Close all of them, even if one fails or this is cancelled in the middle: nobody else would."""
    async with AsyncExitStack() as closing:
        for pool in pools:
            closing.push_async_callback(pool.aclose)


def _open(address: str, sandbox: Sandbox) -> _Pool:
    if address.startswith("unix:"):
        socket = SafeSocket(address.removeprefix("unix:"))
        transport = tcp_or_socket(socket_path=socket.path, certificates=_NO_TLS)
    else:
        socket, transport = None, tcp_or_socket(certificates=_NO_TLS)
    http = BoundedHttp(
        transport,
        base_url="http://endpoint" if socket is not None else address,
        connect_s=CONNECT_DEADLINE_S,
        fields={"sandbox_id": sandbox.id, "session_id": sandbox.session_id},
        headers_of_call=context_headers,
    )
    return _Pool(http, address, socket)
