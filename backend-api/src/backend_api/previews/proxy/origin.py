"""Check of the origin of requests to an opened port: browsers send the cookie with some requests of foreign pages."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import Scope

from backend_api.kit.errors import ForbiddenError

_TOP_LEVEL = frozenset({"document", ""})


class ForeignRequestError(ForbiddenError):
    """A page of another origin calls or frames the app, which only links may lead to."""

    code = "origin_forbidden"


def check_origin(scope: Scope) -> None:
    """Allow requests of the app's own pages, addresses that a person types or follows, and clients that are no
    browsers.

    The pages of two opened ports are of one site, so `SameSite` does not keep them apart. Raises `ForeignRequestError`.
    """
    headers = Headers(scope=scope)
    site = headers.get("sec-fetch-site")
    if scope["type"] == "http" and site in ("same-site", "cross-site"):
        is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest", "") in _TOP_LEVEL
        if not is_link or scope["method"] not in ("GET", "HEAD"):
            raise ForeignRequestError("Pages of another origin may only link to this app.")
        return
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        raise ForeignRequestError("Pages of another origin may not call this app.")
