"""Lets a request or socket tell the server that its peer is known: from then on the peer's limits are wider."""

from __future__ import annotations

from starlette.requests import HTTPConnection

TRUST = "backend_api.trust"


def trust_peer(connection: HTTPConnection) -> None:
    """Marks the peer as trusted, after it logged in or showed a valid ticket. Other servers ignore it."""
    extension = connection.scope.get("extensions", {}).get(TRUST)
    if extension is not None:
        extension["trust"]()
