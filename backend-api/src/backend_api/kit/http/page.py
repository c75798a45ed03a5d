"""The built front end, served beside the API: files as they are, every other path is the page."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.responses import FileResponse, Response
from starlette.routing import Match
from starlette.types import Scope

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; frame-src blob:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_FOR_PROGRAMS = frozenset({"api", "v1", "mcp"})
_YEAR = "public, max-age=31536000, immutable"


class _PageRoute(APIRoute):
    """Everything but what is for programs: what is not there of that is missing, and no page."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        first = str(scope["path"]).lstrip("/").partition("/")[0]
        return (Match.NONE, {}) if first in _FOR_PROGRAMS else super().matches(scope)


def page_router(folder: Path) -> APIRouter:
    """Routes for everything the API does not answer."""
    router = APIRouter(include_in_schema=False, route_class=_PageRoute)
    root = folder.resolve()

    @router.get("/{path:path}")
    async def page(path: str) -> Response:
        file = (root / path).resolve()
        if path and file.is_relative_to(root) and file.is_file():
            cache = _YEAR if path.startswith("assets/") else "no-cache"
            return FileResponse(file, headers={"Cache-Control": cache, "Content-Security-Policy": CSP})
        return FileResponse(root / "index.html", headers={"Cache-Control": "no-cache", "Content-Security-Policy": CSP})

    return router
