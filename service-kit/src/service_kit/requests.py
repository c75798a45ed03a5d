"""The one layer around a service: the request's origin, its trace, its id on the answer and on one log line, its count,
and the answer to unforeseen errors."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from fastapi.telemetry import TelemetryConfig
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.errors import REQUEST_ID_HEADER
from service_kit.failures import DomainError
from service_kit.listening.broken_off import BrokenOffError
from service_kit.observation.context import Work, work_fields, work_from_headers, working_for
from service_kit.observation.spans import TRACEPARENT, following, span
from service_kit.problems import UNAVAILABLE_RETRY_S, problem

ARRIVED = "service_kit.arrived"
NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}
"""Settings for `FastAPI`: its own spans would hold the queries of requests, and follow whoever calls."""
UNMATCHED = "unmatched"
_OTHER = "other"
_FAILED = "Internal error. The request id identifies it in the server's log."
_ENDS = "This server is shutting down, and the request may not have been carried out. Try again in a moment."
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
_METHODS = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS", "WS"})


@dataclass(frozen=True, slots=True)
class Answered:
    """A request that has ended.

    `method` is one of few words, `WS` for a socket; `route` the path's template, or `unmatched`; `status` 0 where no
    answer began, as with sockets.
    """

    method: str
    route: str
    status: int
    seconds: float

    @property
    def routed_method(self) -> str:
        """The method; `any` if no such method, or no route, exists."""
        return "any" if self.route == UNMATCHED or self.method == _OTHER else self.method


def _from_headers(_: Scope, headers: Headers) -> Work:
    return work_from_headers(headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRules:
    """The differences between services; by default a caller is one of ours, and trusted."""

    service: str
    count: Callable[[Answered], None]
    work: Callable[[Scope, Headers], Work] = _from_headers
    """The request, session and run that a request belongs to; it gets an id if it has none."""
    span: Callable[[Scope, bool], str | None] = lambda _scope, _is_traced: None
    """The name of a request's span, if it gets one; the flag says whether it belongs to its caller's trace."""
    follows_callers: bool = True
    """Whether the trace a caller began is continued."""
    logged_path: Callable[[str], str] = str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of every answer that does not set them itself."""


class RequestMiddleware:
    """The layer as plain ASGI: a wrapping middleware would hide the client's disconnect from the calls.

    `scope[ARRIVED]` is when the request came, in seconds of the monotonic clock.
    """

    def __init__(self, app: ASGIApp, *, rules: RequestRules) -> None:
        self._app = app
        self._rules = rules
        self._log = logging.getLogger(f"{rules.service.replace('-', '_')}.access")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        work = self._rules.work(scope, headers)
        request_id = work.request_id or secrets.token_hex(12)
        traceparent = headers.get(TRACEPARENT) if self._rules.follows_callers else None
        with (
            working_for(request_id=request_id, session_id=work.session_id, run_id=work.run_id),
            following(traceparent) as is_traced,
            self._span(scope, is_traced=is_traced) as current,
        ):
            await self._answer(scope, receive, send, request_id, current)

    def _span(self, scope: Scope, *, is_traced: bool) -> AbstractContextManager[Span]:
        name = self._rules.span(scope, is_traced)
        return span(name, kind=SpanKind.SERVER) if name else nullcontext(INVALID_SPAN)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, request_id: str, current: Span) -> None:
        began = scope[ARRIVED] = time.monotonic()
        status = 0

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID_HEADER] = request_id
                for name, value in self._rules.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, send_named)
        except Exception as error:
            has_begun = bool(status) or scope["type"] != "http"
            self._log_failure(error, scope, has_begun=has_begun)
            if has_begun:
                raise
            await problem(500, "internal", _FAILED)(scope, receive, send_named)
        except asyncio.CancelledError:
            if not status and scope["type"] == "http":
                # A server that ends cancels slow requests, whose callers still wait.
                retry = {"Retry-After": str(UNAVAILABLE_RETRY_S)}
                ends = problem(503, "unavailable", _ENDS, retryable=True, headers=retry)
                await ends(scope, receive, send_named)
            raise
        finally:
            self._report(scope, current, status, time.monotonic() - began)

    def _log_failure(self, error: Exception, scope: Scope, *, has_begun: bool) -> None:
        fields = work_fields() | {"path": self._rules.logged_path(scope["path"])}
        known = _domain_error(error) if has_begun else None
        if known is None:
            self._log.exception("request failed", extra=fields)
            return
        # A sandbox that breaks its own download is no fault of ours, and may repeat it at will.
        self._log.warning("answer broken off", extra=fields | {"code": known.code, "reason": known.detail})
        raise BrokenOffError from known

    def _report(self, scope: Scope, current: Span, status: int, seconds: float) -> None:
        method = "WS" if scope["type"] == "websocket" else scope["method"]
        level = logging.DEBUG if scope["path"] in _QUIET else logging.INFO
        fields = {"method": method, "path": self._rules.logged_path(scope["path"]), "status": status}
        self._log.log(level, "request", extra=fields | {"duration_ms": round(seconds * 1000, 1)})
        route = str(getattr(scope.get("route"), "path", UNMATCHED))
        answered = Answered(method if method in _METHODS else _OTHER, route, status, seconds)
        self._rules.count(answered)
        current.set_attributes(
            {"http.request.method": answered.method, "http.route": route, "http.response.status_code": status}
        )


def _domain_error(error: Exception) -> DomainError | None:
    """The domain error in an exception, also one the framework could not answer any more because an answer had
    begun."""
    found = error.__cause__ if type(error) is RuntimeError else error
    return found if isinstance(found, DomainError) else None
