"""A socket tells its server that it knows who is at the other end: from then on it may send larger frames, and more."""

from __future__ import annotations

from fastapi import WebSocket

TRUST = "backend_api.trust"


def trust_peer(socket: WebSocket) -> None:
    """The peer has logged in, or showed a ticket that holds. Other servers have nothing to be told."""
    extension = socket.scope.get("extensions", {}).get(TRUST)
    if extension is not None:
        extension["trust"]()
