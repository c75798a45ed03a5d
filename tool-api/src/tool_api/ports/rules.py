"""The ports of the sandbox that may be connected to from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from contracts.ports import FIRST_PORT, LAST_PORT, RESERVED_PORTS


@dataclass(frozen=True, slots=True, kw_only=True)
class PortRules:
    """The ports that a person may open: those of programs in the sandbox, not of its own services.

    `own_ports` is called at each connection, as browsers may have chosen theirs after the start.
    """

    own_ports: Callable[[], frozenset[int]]

    def allow(self, port: int) -> bool:
        """Whether connections to `port` may be made."""
        return FIRST_PORT <= port <= LAST_PORT and port not in RESERVED_PORTS and port not in self.own_ports()


def ports_of(*addresses: str | None) -> frozenset[int]:
    """The ports of addresses such as `ws://127.0.0.1:9222/devtools/browser/x`; None has no port."""
    found = (urlsplit(address).port for address in addresses if address is not None)
    return frozenset(port for port in found if port is not None)
