"""The refresh token of our page, in a cookie that no script can read and no other page can have sent."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from backend_api.identity.domain.entity import Grant
from backend_api.kit.errors import ForbiddenError

PATH = "/api/auth"
_MAX_CHARACTERS = 512
_MAX_COOKIES = 8


class ForeignPageError(ForbiddenError):
    """A request that only our own page may make came from another page, or from no page."""

    code = "origin_forbidden"


def require_own_page(request: Request) -> None:
    """Raises `ForeignPageError`."""
    if not is_own_page(request):
        raise ForeignPageError(
            "Only this server's own page uses the cookie. API clients get their tokens in the response."
        )


def is_own_page(request: Request) -> bool:
    """Whether our own page sent this, by headers that only a browser sets. A browser without `Sec-Fetch-Site`, as over
    plain http, still sends the origin."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = urlsplit(request.headers.get("origin", ""))
    return origin.scheme in ("http", "https") and origin.netloc == request.headers.get("host", "")


def read_cookies(request: Request) -> list[str]:
    """The refresh tokens in the page's cookies: ours, and any that servers on other ports of the host planted beside
    it.

    Depending on its path such a one comes before or after ours, so that the order means nothing.
    """
    name, found = _name(request), dict[str, None]()
    for header in request.headers.getlist("cookie"):
        for pair in header.split(";"):
            key, _, value = pair.strip().partition("=")
            if key == name and 0 < len(value) <= _MAX_CHARACTERS:
                found[value] = None
    return list(found)[:_MAX_COOKIES]


def set_cookie(request: Request, response: Response, grant: Grant) -> None:
    """Set the page's refresh token."""
    _write_cookie(request, response, grant.refresh_token, grant.refresh_expires_in)


def clear_cookie(request: Request, response: Response) -> None:
    """Delete the cookie, if there is one."""
    if _name(request) in request.cookies:
        _write_cookie(request, response, "", 0)


def _write_cookie(request: Request, response: Response, value: str, max_age_s: int) -> None:
    response.set_cookie(
        _name(request),
        value,
        max_age=max_age_s,
        path=PATH,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _name(request: Request) -> str:
    """The cookie's name, with the port, as all ports of a host share cookies: two servers there must not log each other
    out."""
    _, _, port = request.headers.get("host", "").rpartition(":")
    name = f"refresh-{port}" if port.isascii() and port.isdecimal() else "refresh"
    return f"__Secure-{name}" if request.url.scheme == "https" else name
