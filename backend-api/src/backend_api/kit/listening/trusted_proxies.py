"""Determines the client of a request: trusted proxies, given by address, network or name, may say for whom they
call."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

logger = logging.getLogger(__name__)

AGAIN_S = 5.0
Resolve = Callable[[str], Awaitable[set[str]]]


async def addresses_of(name: str) -> set[str]:
    """The addresses a name resolves to now, or none."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return set()
    return {str(entry[4][0]) for entry in found}


class TrustedProxies:
    """ASGI middleware. Names are resolved again as requests come, since a container may get another address."""

    def __init__(self, app: ASGIApp, trusted: Sequence[str], resolve: Resolve = addresses_of) -> None:
        self._app = app
        self._fixed = [entry for entry in trusted if not _is_name(entry)]
        self._names = [entry for entry in trusted if _is_name(entry)]
        self._resolve = resolve
        self._known: set[str] = set()
        self._asked_at = float("-inf")
        self._believing = self._middleware()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._names and scope["type"] != "lifespan" and time.monotonic() - self._asked_at >= AGAIN_S:
            self._asked_at = time.monotonic()
            await self._look_up()
        if "*" in self._fixed and scope["type"] != "lifespan":
            scope["headers"] = [*_keep_last_forwarded(scope["headers"])]
        await self._believing(cast("Any", scope), cast("Any", receive), cast("Any", send))

    def is_trusted(self, address: str) -> bool:
        """Whether a peer is currently trusted to say for whom it calls."""
        return address in self._believing.trusted_hosts

    async def _look_up(self) -> None:
        found = set[str]().union(*[await self._resolve(name) for name in self._names])
        # A known proxy stays trusted if a look-up fails for a moment.
        if found and found != self._known:
            self._known = found
            self._believing = self._middleware()
            logger.info("trusted proxies", extra={"addresses": sorted(found)})

    def _middleware(self) -> ProxyHeadersMiddleware:
        trusted = "*" if "*" in self._fixed else [*self._fixed, *self._known]
        return ProxyHeadersMiddleware(cast("Any", self._app), trusted)


def _keep_last_forwarded(headers: Iterable[tuple[bytes, bytes]]) -> Generator[tuple[bytes, bytes]]:
    """Keeps only the last of the forwarded-for addresses: the peer adds that one itself, the others were sent to it."""
    forwarded = b""
    for name, value in headers:
        if name == b"x-forwarded-for":
            forwarded = value
        else:
            yield name, value
    if forwarded:
        yield b"x-forwarded-for", forwarded.rpartition(b",")[2].strip()


def _is_name(entry: str) -> bool:
    if entry == "*":
        return False
    try:
        ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return True
    return False
