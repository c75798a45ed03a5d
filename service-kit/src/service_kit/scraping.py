"""Access to a service's metrics."""

from __future__ import annotations

import hmac

from starlette.requests import Request

from service_kit.failures import NotFoundError, UnauthenticatedError
from service_kit.loopback import is_loopback

_FORWARDED = frozenset({"x-forwarded-for", "x-real-ip", "forwarded", "via"})


def check_scraper(request: Request, token: str) -> None:
    """Admit callers with the token; without a token only this machine itself, and nobody through a proxy.

    Raises `UnauthenticatedError`, and `NotFoundError` for requests through a proxy.
    """
    if token:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.encode(), token.encode()):
            raise UnauthenticatedError("METRICS_TOKEN is required as a bearer token.")
    elif _FORWARDED & set(request.headers.keys()):
        raise NotFoundError("There is nothing here.")
    elif not _is_this_machine(request):
        raise UnauthenticatedError("Set METRICS_TOKEN and send it as a bearer token to read this from another host.")


def _is_this_machine(request: Request) -> bool:
    """Whether the caller is this machine, by its address and by a host name of its own: a foreign page whose name
    points here sends that name."""
    name = request.headers.get("host", "").rpartition("]")[0].lstrip("[") or request.url.hostname or ""
    return request.client is not None and is_loopback(request.client.host) and is_loopback(name)
