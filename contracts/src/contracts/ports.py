"""WS /ports/{port} of the tool API: the bytes of one connection to a program that listens in the sandbox.

Binary messages, both ways, are the bytes of one TCP connection to the sandbox's own loopback address; they end with the
socket. When the program ends its output, the socket closes once all of it was sent; there is no way to end one
direction alone. A code other than `ENDED` gives the reason why there is no connection, or no longer.
"""

from __future__ import annotations

from enum import IntEnum

PATH = "/ports"
FIRST_PORT = 1024
LAST_PORT = 65535
RESERVED_PORTS = frozenset({7000, 9222})
"""Ports of the sandbox's own services in every sandbox: the tool API, and the control port of its browser."""
MAX_FRAME_BYTES = 1024 * 1024


class CloseCode(IntEnum):
    """Reasons for which the tool API closes the socket."""

    ENDED = 1000
    UNSUPPORTED = 1003
    UNAUTHENTICATED = 4401
    REFUSED_PORT = 4403
    NOTHING_LISTENS = 4404
    TOO_SLOW = 4408
    TOO_MANY = 4429
