"""The API's documentation page: Swagger UI with every file of it from this server."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import fastapi_offline
from fastapi import APIRouter, Request
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, Response

_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "favicon.png": "image/png",
}
_PATH = "/docs/assets"
_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def documentation_router(title: str, openapi_url: str, openapi: Callable[[], dict[str, Any]]) -> APIRouter:
    """`/docs` and its assets. Nothing on the page comes from elsewhere, and its policy enforces that in the browser.

    `openapi` describes the API once all routes are there. It is called and rendered once, since anybody may request
    it.
    """
    router = APIRouter(include_in_schema=False)
    page = get_swagger_ui_html(
        openapi_url=openapi_url,
        title=title,
        swagger_js_url=f"{_PATH}/swagger-ui-bundle.js",
        swagger_css_url=f"{_PATH}/swagger-ui.css",
        swagger_favicon_url=f"{_PATH}/favicon.png",
    )
    body = bytes(page.body)
    # The policy allows the page's own inline script by its digest, so no other one runs.
    digests = [base64.b64encode(hashlib.sha256(found).digest()).decode() for found in _INLINE_SCRIPT.findall(body)]
    scripts = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in digests)])
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )

    folder = Path(fastapi_offline.__file__).with_name("static")

    @cache
    def description() -> tuple[bytes, str]:
        rendered = json.dumps(openapi(), ensure_ascii=False, separators=(",", ":")).encode()
        return rendered, f'"{hashlib.sha256(rendered).hexdigest()[:32]}"'

    @router.get(openapi_url)
    async def described(request: Request) -> Response:
        content, tag = description()
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(content, media_type="application/json", headers=headers)

    @router.get("/docs")
    async def documentation() -> HTMLResponse:
        return HTMLResponse(body, headers={"Content-Security-Policy": policy, "Cache-Control": "no-cache"})

    @router.get(f"{_PATH}/{{name}}")
    async def asset(name: str) -> Response:
        media_type = _ASSETS.get(name)
        if media_type is None:
            raise HTTPException(404, "There is no such file.")
        # Not cached: two megabytes in each process for rare requests.
        headers = {"Cache-Control": "public, max-age=86400"}
        return FileResponse(folder / name, media_type=media_type, headers=headers)

    return router
