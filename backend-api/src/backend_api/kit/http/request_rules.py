"""How the gateway treats the headers of a request: callers are untrusted."""

from __future__ import annotations

import re

from starlette.datastructures import Headers
from starlette.types import Scope

from backend_api.kit import measures
from contracts.errors import REQUEST_ID_HEADER
from service_kit.observation.context import Work
from service_kit.requests import Answered, RequestRules

_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")
_SESSION = re.compile(r"/api/sessions/([A-Za-z0-9_-]{1,64})")
_LINK = re.compile(r"/+api/+files/", re.IGNORECASE)
_SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}


def request_rules(*, follows_callers: bool) -> RequestRules:
    """Only a caller's request id is accepted, and its trace if enabled."""
    return RequestRules(
        service="backend-api",
        count=_count,
        work=_work_of,
        span=lambda scope, _: "request" if scope["path"].startswith("/api/") else None,
        follows_callers=follows_callers,
        # A signed link is a key.
        logged_path=lambda path: "/api/files/…" if _LINK.match(path) else path,
        headers=_SECURITY,
    )


def _work_of(scope: Scope, headers: Headers) -> Work:
    offered = headers.get(REQUEST_ID_HEADER, "")
    session = _SESSION.match(scope["path"])
    return Work(
        request_id=offered if _SANE.fullmatch(offered) else None, session_id=session[1] if session is not None else None
    )


def _count(answered: Answered) -> None:
    status = 101 if answered.method == "WS" else answered.status or 500
    measures.HTTP_REQUESTS.labels(answered.method, answered.route, str(status)).inc()
    measures.HTTP_SECONDS.labels(answered.method, answered.route).observe(answered.seconds)
