"""Which ports of the sandbox may be connected to from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

FIRST_PORT = 1024
LAST_PORT = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class PortRules:
    """What a person may open: ports of programs in the sandbox, and none of its own services.

    `own_ports` is asked at each connection, as Chrome may have chosen its port after the start. `low_ports` are those
    below `FIRST_PORT` that may be opened all the same.
    """

    own_ports: Callable[[], frozenset[int]]
    low_ports: frozenset[int] = frozenset()

    def allow(self, port: int) -> bool:
        """Whether connections to `port` may be made."""
        in_range = FIRST_PORT <= port <= LAST_PORT or port in self.low_ports
        return in_range and port not in self.own_ports()
