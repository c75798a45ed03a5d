"""Connections to the very addresses that were checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import httpcore

from backend_api.kit.untrusted.addresses import address_of
from backend_api.kit.untrusted.errors import AddressRefusedError
from backend_api.kit.untrusted.resolver import Resolve
from backend_api.kit.untrusted.rules import FetchRules

MOST_TRIED = 4
"""The most addresses of a name that are tried."""


class AddressGuard:
    """Resolves a name once, for the connection that is then made: later answers of a name server have no effect."""

    def __init__(self, rules: FetchRules, resolve: Resolve) -> None:
        self._rules = rules
        self._resolve = resolve

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """At least one allowed address. Raises `AddressRefusedError` if one of them is not allowed, and `OSError`."""
        found = [host] if address_of(host) is not None else list(await self._resolve(host, port))
        if not found:
            raise OSError(f"{host} has no address")
        self._rules.check_addresses(host, port, found)
        return found[:MOST_TRIED]


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """The backend by which `httpcore` connects. It still uses the host's name for the certificate and the `Host`
    header."""

    def __init__(self, guard: AddressGuard, network: httpcore.AsyncNetworkBackend | None = None) -> None:
        self._guard = guard
        # A type checker may not have the library's own types.
        self._network = network or cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to a checked address. Raises `AddressRefusedError` beside what the library raises."""
        try:
            addresses = await self._guard.addresses(host, port)
        except OSError as error:
            raise httpcore.ConnectError(f"{host} can't be resolved") from error
        fault: Exception | None = None
        for address in addresses:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                fault = error
        raise fault or httpcore.ConnectError(f"{host} has no address")

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Refuse every socket, as no address names one."""
        raise AddressRefusedError("Unix sockets can't be fetched from.")

    async def sleep(self, seconds: float) -> None:
        """Sleep as the library does."""
        await self._network.sleep(seconds)
