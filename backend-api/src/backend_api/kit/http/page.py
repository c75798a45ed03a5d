"""The built front end, served beside the API: files as they are, and the page for every other path.

The build leaves a compressed copy beside each text file (`app.js.br`, `app.js.gz`), which is sent to browsers that
accept it.
"""

from __future__ import annotations

import mimetypes
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.routing import Match
from starlette.types import Scope

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; frame-src 'self' blob:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_FOR_PROGRAMS = frozenset({"api", "v1", "mcp"})
_YEAR = "public, max-age=31536000, immutable"
_SUFFIXES = {"br": ".br", "gzip": ".gz"}
"""The file suffix of each content coding. If two are equally preferred, the first is sent."""


class _PageRoute(APIRoute):
    """Matches every path but those for programs: a missing path there is a 404, not the page."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        first = str(scope["path"]).lstrip("/").partition("/")[0]
        return (Match.NONE, {}) if first in _FOR_PROGRAMS else super().matches(scope)


class _Copy(NamedTuple):
    """The file to send, and its content coding, None if it is not compressed."""

    file: Path
    coding: str | None


def accepted_codings(header: str) -> dict[str, float]:
    """The content codings of an `Accept-Encoding` header (RFC 9110, 12.5.3), each with its weight."""
    accepted: dict[str, float] = {}
    for part in header.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            key, _, value = parameter.partition("=")
            if key.strip() == "q":
                weight = _weight(value.strip())
        if name:
            accepted["gzip" if name == "x-gzip" else name] = weight
    return accepted


def _weight(text: str) -> float:
    """A weight from 0 to 1; an invalid one counts as 0, refused."""
    try:
        weight = float(text)
    except ValueError:
        return 0
    return weight if 0 <= weight <= 1 else 0


def _best_copy(file: Path, headers: Headers) -> _Copy:
    """The copy of a file that the client prefers. Ranges are taken from the file itself."""
    if "range" in headers:
        return _Copy(file, None)
    accepted = accepted_codings(headers.get("accept-encoding", ""))
    others = accepted.get("*", 0.0)
    best, best_weight = _Copy(file, None), accepted.get("identity", 0.0)
    for coding, suffix in _SUFFIXES.items():
        weight = accepted.get(coding, others)
        copy = file.with_name(file.name + suffix)
        # Compressed copies win ties with `identity`, and the first copy with the second.
        if weight > 0 and (weight > best_weight or (best.coding is None and weight == best_weight)) and copy.is_file():
            best, best_weight = _Copy(copy, coding), weight
    return best


def _is_known(response: FileResponse, headers: Headers) -> bool:
    """Whether the client has this very copy (RFC 9110, 13.2.2)."""
    if (tags := headers.get("if-none-match")) is not None:
        known = [tag.strip().removeprefix("W/") for tag in tags.split(",")]
        return "*" in known or response.headers["etag"] in known
    try:
        since = parsedate_to_datetime(headers["if-modified-since"])
        return parsedate_to_datetime(response.headers["last-modified"]) <= since
    except (KeyError, ValueError, TypeError):
        return False


def _send(file: Path, cache: str, request: Request) -> Response:
    copy = _best_copy(file, request.headers)
    status = copy.file.stat()
    headers = {"Cache-Control": cache, "Content-Security-Policy": CSP}
    headers["ETag"] = f'"{status.st_mtime_ns:x}-{status.st_size:x}-{copy.coding or "identity"}"'
    if any(file.with_name(file.name + suffix).is_file() for suffix in _SUFFIXES.values()):
        headers["Vary"] = "Accept-Encoding"
    if copy.coding:
        headers["Content-Encoding"] = copy.coding
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    response = FileResponse(copy.file, headers=headers, media_type=kind, stat_result=status)
    if not _is_known(response, request.headers):
        return response
    kept = ("cache-control", "content-security-policy", "etag", "last-modified", "vary")
    return Response(
        status_code=304, headers={name: response.headers[name] for name in kept if name in response.headers}
    )


def page_router(folder: Path) -> APIRouter:
    """Routes for all paths that the API does not serve."""
    router = APIRouter(include_in_schema=False, route_class=_PageRoute)
    root = folder.resolve()

    @router.api_route("/{path:path}", methods=["GET", "HEAD"])
    def page(path: str, request: Request) -> Response:
        file = (root / path).resolve()
        is_built = path.startswith("assets/")
        if path and file.is_relative_to(root) and file.is_file():
            return _send(file, _YEAR if is_built else "no-cache", request)
        if is_built:
            # An asset of an older build: the page in its place would run as a script, or be cached as one for a year.
            raise HTTPException(404, "The page has no such file. Reload the page.")
        return _send(root / "index.html", "no-cache", request)

    return router
