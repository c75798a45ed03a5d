"""The refresh token of our page: in a cookie that no script can read and no other page can have sent."""

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
    """What is for our own page alone was asked for by another one, or by nothing that is a page."""

    code = "origin_forbidden"


def require_own_page(request: Request) -> None:
    """Raises `ForeignPageError`."""
    if not is_own_page(request):
        raise ForeignPageError(
            "Only this server's own page uses the cookie. API clients get their tokens in the response."
        )


def is_own_page(request: Request) -> bool:
    """By what only a browser can say. One that keeps silent on the site, as over plain http, tells the origin."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = urlsplit(request.headers.get("origin", ""))
    return origin.scheme in ("http", "https") and origin.netloc == request.headers.get("host", "")


def read_cookies(request: Request) -> list[str]:
    """The refresh tokens the page brings: ours, and those that servers on other ports of the host planted beside it.

    By path such a one may come before ours or after it, so that the order says nothing.
    """
    name, found = _name(request), dict[str, None]()
    for header in request.headers.getlist("cookie"):
        for pair in header.split(";"):
            key, _, value = pair.strip().partition("=")
            if key == name and 0 < len(value) <= _MAX_CHARACTERS:
                found[value] = None
    return list(found)[:_MAX_COOKIES]


def set_cookie(request: Request, response: Response, grant: Grant) -> None:
    """Give the page its refresh token."""
    _write_cookie(request, response, grant.refresh_token, grant.refresh_expires_in)


def clear_cookie(request: Request, response: Response) -> None:
    """Take it away, if there is one."""
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
    """With the port, as cookies are shared by all ports of a host: two servers there must not log each other out."""
    _, _, port = request.headers.get("host", "").rpartition(":")
    name = f"refresh-{port}" if port.isascii() and port.isdecimal() else "refresh"
    return f"__Secure-{name}" if request.url.scheme == "https" else name
