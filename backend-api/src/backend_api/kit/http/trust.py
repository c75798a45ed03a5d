"""A request or a socket tells its server that it knows who is at the other end: from then on that peer may do more."""

from __future__ import annotations

from starlette.requests import HTTPConnection

TRUST = "backend_api.trust"


def trust_peer(connection: HTTPConnection) -> None:
    """The peer has logged in, or showed a ticket that holds. Other servers have nothing to be told."""
    extension = connection.scope.get("extensions", {}).get(TRUST)
    if extension is not None:
        extension["trust"]()
