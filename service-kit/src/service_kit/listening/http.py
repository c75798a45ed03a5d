"""HTTP from unknown peers: bounded heads, a least rate for bodies, deadlines for both, and an end to half-sent
requests.

uvicorn's own protocol keeps any input, for as long as it takes. A refusal is a problem detail, then the connection
ends.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, cast

import uvicorn
from uvicorn._types import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, ASGISendEvent, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from contracts.errors import PROBLEM_MEDIA_TYPE, Problem
from service_kit.failures import as_sentence
from service_kit.listening.broken_off import BrokenOffError
from service_kit.listening.peers import Close, Peers

URL_BYTES = 16 * 1024
HEAD_BYTES = 32 * 1024
HEADERS = 100
HEAD_S = 10.0
"""Seconds from the connection, or from the last answer, to a whole head."""
_KEEP_ALIVE_S = 8
"""Seconds after which an idle connection is ended: more than the 5 s for which httpx keeps one, or its next request
would come as the server closes; less than `HEAD_S`, so that a request begun just before has time for its head."""
BODY_WINDOW_S = 20.0
BODY_WINDOW_BYTES = 4096
"""Bytes of a body that must arrive in each window of time, whatever remains of it."""
FRAMING_BYTES = 64 * 1024
FRAMING_SHARE = 4
"""The framing of a body (sizes and extensions of its chunks) may take `FRAMING_BYTES`, and this many times the body's
own size."""
AHEAD = 16
"""Requests that may be sent while an earlier one is being answered."""
LINGER_S = 3.0
"""Seconds for which input after a connection's last answer is discarded: closing at once would lose the answer."""
LINGER_BYTES = 4 * 1024 * 1024
"""Bytes discarded in that time; beyond them nothing more is read."""
REST_BYTES = 64 * 1024
"""Missing bytes of a body up to which the connection is kept for the next request, if it is answered before all of it
has come."""


class Config(uvicorn.Config):
    """The configuration of a server, with the peers connected to it."""

    def __init__(self, *args: Any, peers: Peers, **options: Any) -> None:
        super().__init__(*args, timeout_keep_alive=_KEEP_ALIVE_S, **options)
        self.peers = peers


class _RefusedError(Exception):
    """Ends the parser; the answer is prepared already."""


class BoundedHttpProtocol(HttpToolsProtocol):
    """The server's protocol with bounds."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.peers = cast("Config", config).peers
        self._refusal: tuple[int, str, str] | None = None
        self._is_draining = False
        self._is_in_body = False
        self._is_last = False
        """Whether this answer is the last: no request is taken any more, and the answer says so."""
        self._since = self.loop.time()
        """Start of the wait for a head, of the body's window, or of the time for which input is discarded."""
        self._raw = 0
        self._body = 0
        self._in_window = 0
        self._head = 0
        self._answered: RequestResponseCycle | None = None
        self._close = Close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast("asyncio.Transport", transport))
        self._since = self.loop.time()
        address = self.client[0] if self.client else ""
        if not self.peers.admit(self, address):
            self._is_draining = True
            self.transport.write(_answer(503, "no_room", "There are too many connections. Try again in a moment."))
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.peers.release(self)
        # The server notifies only the last request; the one being answered would write to a closed socket.
        for cycle in (self._answered, *(waiting for waiting, _ in self.pipeline)):
            if cycle is not None:
                cycle.disconnected = True
                cycle.message_event.set()
        self.pipeline.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._raw += len(data)
        if self._is_draining or (self._is_last and not self._is_in_body):
            if self._raw > LINGER_BYTES and not self.transport.is_closing():
                self.transport.pause_reading()
            return
        super().data_received(data)
        if self._is_draining or self.transport.is_closing():
            return
        if self._is_in_body:
            if self._raw - self._body > FRAMING_BYTES + FRAMING_SHARE * self._body:
                self._refuse(400, "bad_request", "The chunks of this body are too small.")
        elif self._raw > HEAD_BYTES:
            self._refuse(*_TOO_LARGE)

    def on_message_begin(self) -> None:
        if self._is_last:
            raise _RefusedError
        self._head = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        if len(self.url) + len(url) > URL_BYTES:
            self._stop((414, "uri_too_long", f"A URL may have at most {URL_BYTES} bytes."))
        self._head += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        # Trailers come here too.
        self._head += len(name) + len(value) + 4
        if self._head > HEAD_BYTES or len(self.headers) >= HEADERS:
            self._stop(_TOO_LARGE)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= AHEAD:
            self._stop((429, "too_many_requests", "Too many requests are pipelined. Wait for the responses first."))
        if self.parser is not None and self.parser.should_upgrade():
            self._check_upgrade()
        self._is_in_body = True
        self._raw = self._body = self._in_window = 0
        self._since = self.loop.time()
        super().on_headers_complete()

    def _check_upgrade(self) -> None:
        """Refuse an upgrade with a body, which the parser would carry out as the next request, and one during an
        answer, of which the connection's new owner knows nothing."""
        length = next((value for name, value in self.headers if name == b"content-length"), b"0")
        if int(length) or any(name == b"transfer-encoding" for name, _ in self.headers):
            self._stop((400, "bad_request", "A request with Upgrade has no body. Send it without Upgrade."))
        if self._is_answering:
            self._stop((400, "bad_request", "A request with Upgrade waits for the responses of those before it."))

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        self._in_window += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_in_body = False
        self._raw = 0
        super().on_message_complete()
        self._close_after_last()

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()
        self._close_after_last()

    def _close_after_last(self) -> None:
        """Close once the body and its answer are whole: closing earlier would lose the answer."""
        if self._is_last and not self._is_in_body and not self._is_answering:
            self.transport.close()

    def _is_rest_uncertain(self, cycle: RequestResponseCycle) -> bool:
        """Whether a part of the body is still to come, and may be long in coming, or not come at all."""
        if cycle is not self.cycle or not self._is_in_body:
            return False
        length = next((value for name, value in self.headers if name == b"content-length"), None)
        is_near = length is not None and int(length) - self._body <= REST_BYTES
        return cycle.waiting_for_100_continue or not is_near or not cycle.keep_alive

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        async def answered(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
            async def send_and_end(message: ASGISendEvent) -> None:
                if message["type"] != "http.response.start" or not self._is_rest_uncertain(cycle):
                    await send(message)
                    return
                self._is_last = True
                await send({**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]})
                # Otherwise the server closes with the answer, even with input to come.
                cycle.keep_alive = True

            try:
                # Most requests have come in whole by now.
                await app(scope, receive, send_and_end if self._is_in_body else send)
            except BrokenOffError:
                # Aborted, not closed: without a length, a clean end would look like the whole answer.
                cycle.disconnected = True
                self.transport.abort()
            except asyncio.CancelledError:
                # The server ends. Without a begun answer the server's own reports it; a begun one is whole, or is cut.
                if not cycle.response_started:
                    raise
                if not cycle.response_complete:
                    cycle.disconnected = True
                    self.transport.close()

        self._answered = cycle
        super()._start_asgi_task(cycle, answered)

    def handle_websocket_upgrade(self) -> None:
        # The socket's own protocol takes the place.
        self.peers.release(self)
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        if self._is_last and not self._is_in_body:
            return
        self._refuse(*(self._refusal or (400, "bad_request", as_sentence(msg))))

    @property
    def is_pending(self) -> bool:
        # A peer that does not take its answers is pending again.
        return self._is_draining or self._is_in_body or not self._is_answering or self.flow.write_paused

    @property
    def is_anonymous(self) -> bool:
        return False

    @property
    def _is_answering(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete

    def cut(self) -> None:
        self.transport.abort()

    def look(self, now: float) -> None:
        waited = now - self._since
        if self._is_draining:
            if waited > LINGER_S:
                self.transport.abort()
        elif self._close.is_late(self.transport, now):
            self.transport.abort()
        elif self._is_in_body:
            self._look_at_body(now)
        elif not self._is_answering and waited > HEAD_S:
            if self._raw:
                self._refuse(408, "request_timeout", "The request did not come in time.")
            else:
                self.transport.close()

    def _look_at_body(self, now: float) -> None:
        if not self._is_answering:
            # Answered before it was whole; the rest is not needed.
            if now - self._since > LINGER_S:
                self.transport.abort()
        elif self.flow.read_paused or self.cycle.waiting_for_100_continue:
            self._since, self._in_window = now, 0
        elif now - self._since > BODY_WINDOW_S:
            if self._in_window < BODY_WINDOW_BYTES:
                self._refuse(408, "request_timeout", "The body did not come in time.")
            self._since, self._in_window = now, 0

    def _stop(self, refusal: tuple[int, str, str]) -> None:
        self._refusal = refusal
        raise _RefusedError

    def _refuse(self, status: int, code: str, detail: str) -> None:
        """Answer, unless an answer is under way, and end the connection."""
        self.peers.count(code)
        answering = self._is_answering
        if self._is_last or (answering and (self.cycle.response_started or not self._is_in_body or self.pipeline)):
            self.transport.abort()
            return
        if answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._is_draining = True
        self._since, self._raw = self.loop.time(), 0
        self.flow.resume_reading()
        self.transport.write(_answer(status, code, detail))
        if self.transport.can_write_eof():
            self.transport.write_eof()


_TOO_LARGE = (
    431,
    "headers_too_large",
    f"The headers of a request may have at most {HEADERS} fields and {HEAD_BYTES} bytes.",
)


def _answer(status: int, code: str, detail: str) -> bytes:
    problem = Problem(
        title=HTTPStatus(status).phrase, status=status, detail=detail, code=code, retryable=status in (408, 429, 503)
    )
    body = problem.model_dump_json(exclude_none=True).encode()
    head = [
        f"HTTP/1.1 {status} {problem.title}",
        f"Content-Type: {PROBLEM_MEDIA_TYPE}",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *(["Retry-After: 5"] if status == 503 else []),
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body
