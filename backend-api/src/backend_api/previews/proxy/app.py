"""Opened ports, each under its own host, routed before any route of the gateway: neither answers on the host of the
other."""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from backend_api.kit import measures
from backend_api.kit.errors import DomainError
from backend_api.kit.http.ports import WebOptions, ports_of
from backend_api.kit.http.trust import trust_peer
from backend_api.previews.application.reach_port import ReachPort
from backend_api.previews.domain.entity import PortId
from backend_api.previews.domain.errors import PortNotFoundError, PreviewTokenError
from backend_api.previews.http.preview_hosts import TOKEN_PARAMETER, port_of, preview_label
from backend_api.previews.proxy.cookies import cookie_header, read_cookies
from backend_api.previews.proxy.exchange import Exchange
from backend_api.previews.proxy.origin import check_origin
from backend_api.previews.proxy.pages import page_of
from backend_api.previews.proxy.sockets import close_socket, pass_socket
from service_kit.observation.context import Work
from service_kit.requests import Answered, RequestMiddleware, RequestRules

logger = logging.getLogger(__name__)

_ROUTE = "preview"
_REFUSED = 4403
_READS = ("GET", "HEAD")


class PreviewHosts:
    """ASGI middleware around everything else."""

    def __init__(self, app: ASGIApp, options: WebOptions) -> None:
        self._app = app
        self._is_https = options.public_url.startswith("https://")
        # An app's paths do not belong in a log, our headers must not change what it may do, and the headers in which
        # callers describe themselves are the app's own.
        rules = RequestRules(
            service="backend-api",
            count=_count,
            work=lambda _scope, _headers: Work(),
            logged_path=lambda _: "/…",
            follows_callers=False,
        )
        self._previews = RequestMiddleware(_answer, rules=rules)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or preview_label(scope, _domain_of(scope)) is None:
            await self._app(scope, receive, send)
            return
        if self._is_https:
            # Of several proxies the nearest one may report how the next one reached it.
            scope = {**scope, "scheme": "wss" if scope["type"] == "websocket" else "https"}
        await self._previews(scope, receive, send)


def _reach_port(scope: Scope) -> ReachPort | None:
    return ports_of(scope["app"]).get("reach_port")


def _domain_of(scope: Scope) -> str:
    reach_port = _reach_port(scope)
    return reach_port.policy.domain if reach_port is not None else ""


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    reach_port = _reach_port(scope)
    assert reach_port is not None
    port_id = port_of(preview_label(scope, reach_port.policy.domain) or "")
    if scope["type"] == "websocket":
        await _socket(WebSocket(scope, receive, send), reach_port, port_id)
    else:
        await _request(scope, receive, send, reach_port, port_id)


async def _request(scope: Scope, receive: Receive, send: Send, reach: ReachPort, port_id: PortId | None) -> None:
    exchange = Exchange(scope, receive, send)
    try:
        if port_id is None:
            raise PortNotFoundError("There is no such port.")
        check_origin(scope)
        entered = await _enter_with_token(scope, reach, port_id)
        if entered is None:
            await _pass(exchange, scope, reach, port_id)
            return
    except DomainError as error:
        if exchange.has_begun:
            raise
        logger.info("preview refused", extra={"port_id": port_id, "code": error.code})
        entered = page_of(error, scope)
    await entered(scope, receive, send)


async def _pass(exchange: Exchange, scope: Scope, reach: ReachPort, port_id: PortId) -> None:
    port, claims = await reach.admit(port_id, read_cookies(scope))
    with reach.connections.claim(port, claims) as auth:
        trust_peer(Request(scope))
        await exchange.run(reach.apps, await reach.sandbox_of(port), port, auth.ended)
        if auth.ended.done() and not exchange.is_over:
            raise PortNotFoundError("This port is not open any more.")


async def _enter_with_token(scope: Scope, reach: ReachPort, port_id: PortId) -> Response | None:
    """Redirect an address with a token to itself without the token, so that it is in no history and no referrer; None
    for any other address."""
    request = Request(scope)
    token = request.query_params.get(TOKEN_PARAMETER)
    if token is None or scope["method"] not in _READS:
        return None
    headers = {"Location": _without_token(request), "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    answer = Response(status_code=303, headers=headers)
    try:
        answer.raw_headers.append(cookie_header(scope, await reach.enter(port_id, token), reach.policy.cookie_ttl_s))
    except PreviewTokenError:
        # A browser that has a cookie already may come by an old address.
        await reach.admit(port_id, read_cookies(scope))
    return answer


def _without_token(request: Request) -> str:
    query: bytes = request.scope.get("query_string", b"")
    kept = b"&".join(one for one in query.split(b"&") if one.partition(b"=")[0] != TOKEN_PARAMETER.encode())
    path: bytes = request.scope.get("raw_path") or b"/"
    target = (path + (b"?" + kept if kept else b"")).decode("ascii", "replace")
    # The host is included because a path that begins with two slashes would name another one.
    return f"{request.scope['scheme']}://{request.headers['host']}{target}"


async def _socket(socket: WebSocket, reach: ReachPort, port_id: PortId | None) -> None:
    await socket.receive()
    try:
        if port_id is None:
            raise PortNotFoundError("There is no such port.")
        check_origin(socket.scope)
        port, claims = await reach.admit(port_id, read_cookies(socket.scope))
        with reach.connections.claim(port, claims, is_socket=True) as auth:
            trust_peer(socket)
            await pass_socket(socket, reach.apps, await reach.sandbox_of(port), port, auth.ended)
    except DomainError as error:
        logger.info("preview refused", extra={"port_id": port_id, "code": error.code})
        await close_socket(socket, _REFUSED)


def _count(answered: Answered) -> None:
    status = 101 if answered.method == "WS" else answered.status or 500
    measures.HTTP_REQUESTS.labels(answered.method, _ROUTE, str(status)).inc()
    measures.HTTP_SECONDS.labels(answered.method, _ROUTE).observe(answered.seconds)
