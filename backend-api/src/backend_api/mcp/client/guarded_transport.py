"""The HTTP transport under the protocol's package: only allowed addresses, and a bounded size for each answer and for
all of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import httpx
import httpx2

from backend_api.kit.untrusted.errors import AddressRefusedError, FetchFailedError, HostRefusedError
from backend_api.kit.untrusted.resolver import lookups_of
from backend_api.kit.untrusted.rules import FetchRules
from backend_api.mcp.client.lost_sessions import SESSION_HEADER, SessionLoss, session_loss
from backend_api.mcp.client.traffic import CountedAnswer, TooMuchError, Traffic
from backend_api.mcp.domain.entity import McpCause

_BEARER = re.compile(r"\bbearer\b", re.IGNORECASE)

NOT_ALLOWED = (
    "Its address is not allowed: your own MCP servers need a public address and port 80 or 443. The operator of this "
    "server can allow others with MCP_ALLOWED_HOSTS."
)

NO_SERVER = "The server can't be reached."
REFUSAL_S = 5.0
"""Timeout, in seconds, for reading the body of an error response."""
_KEPT_HEADERS = frozenset({"content-type", "www-authenticate", "retry-after"})


@dataclass(frozen=True, slots=True)
class ScopeRefusal:
    """The user is signed in, but without these `scopes`. `may_help`: signing in again requests them."""

    scopes: str
    may_help: bool


@dataclass(slots=True)
class SentCall:
    """The state of a call's request on its way to the server."""

    was_sent: bool = False
    """Whether the whole request was written; before that the server can't have acted on it."""
    status: int | None = None
    """The status of the server's response, if it was an error."""
    loss: SessionLoss | None = None
    """Whether the server refused it because it knows nothing of the session (any more)."""

    @property
    def can_not_have_happened(self) -> bool:
        return self.loss == "forgotten" or not self.was_sent


@dataclass(slots=True)
class SignInRefusal:
    """The sign-in or the scopes that a request was refused for."""

    needs_sign_in: bool = False
    scope: ScopeRefusal | None = None

    @property
    def is_told(self) -> bool:
        return self.needs_sign_in or self.scope is not None


_of_call: ContextVar[SignInRefusal | None] = ContextVar("sign_in_refusal_of_call", default=None)
_sent_call: ContextVar[SentCall | None] = ContextVar("sent_call", default=None)


@dataclass(slots=True)
class Refusals:
    """The reasons a server can't be used, as far as its responses gave any."""

    status: int | None = None
    """The last error status."""
    said: str = ""
    cause: McpCause = "other"
    """The cause for the reason in `said`."""
    asks_to_sign_in: bool = False
    """Whether that status came with a challenge (RFC 6750)."""
    own: SignInRefusal = field(default_factory=SignInRefusal)
    """Refusals of the connection's own requests, such as those that open it."""
    on_broken: Callable[[], None] = lambda: None
    """Called once nothing more can be sent over the connection, though it may still be open."""

    def refuse(self, said: str, cause: McpCause) -> None:
        """Records why the server can't be used, in words for people."""
        self.said, self.cause = said, cause

    @property
    def sign_in(self) -> SignInRefusal:
        """The refusals of the current call, or of the connection outside any call."""
        of_call = _of_call.get()
        return self.own if of_call is None else of_call

    @contextmanager
    def of_call(self) -> Generator[tuple[SignInRefusal, SentCall]]:
        """Collects the refusals of one call: calls share a connection at the same time, and a refusal of one concerns
        no other."""
        refusal, sent = SignInRefusal(), SentCall()
        before, sent_before = _of_call.set(refusal), _sent_call.set(sent)
        try:
            yield refusal, sent
        finally:
            _of_call.reset(before)
            _sent_call.reset(sent_before)


class GuardedTransport(httpx2.AsyncBaseTransport):
    """The transport of one connection to one server; `inner` is shared and stays open. `has_stream`: responses come
    over one stream opened first (the older protocol), so a refused request is never answered there."""

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        rules: FetchRules,
        refusals: Refusals,
        owner: str,
        *,
        has_stream: bool = False,
    ) -> None:
        self._inner = inner
        self._rules = rules
        self._refusals = refusals
        self._owner = owner
        self._has_stream = has_stream
        self._traffic = Traffic()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises `httpx2.TransportError`."""
        try:
            self._rules.checked(str(request.url))
        except AddressRefusedError as error:
            self._refusals.refuse(_reason(error), "address_refused")
            raise httpx2.UnsupportedProtocol("refused", request=request) from error
        sent = _sent_call.get() if request.method == "POST" else None
        asked = httpx.Request(
            request.method,
            str(request.url),
            headers=request.headers.raw,
            content=await request.aread(),
            extensions={"timeout": request.extensions.get("timeout", {}), **_tracing(sent)},
        )
        with self._faults(request):
            await self._traffic.ask(request.method)
            with lookups_of(self._owner):
                answer = await self._inner.handle_async_request(asked)
        if sent is not None:
            # A server that answered has read the request, even if the pool reported no write.
            sent.was_sent, sent.status = True, answer.status_code if answer.status_code >= 400 else None
        if answer.status_code >= 400:
            self._refusals.status = answer.status_code
            challenges = answer.headers.get("www-authenticate", "")
            self._refusals.asks_to_sign_in = answer.status_code == 401 and bool(_BEARER.search(challenges))
        if answer.headers.get("content-encoding", "identity").strip().lower() != "identity":
            await answer.aclose()
            self._refusals.refuse("Its response has a content encoding that was not requested.", "bad_answer")
            raise httpx2.DecodingError("packed", request=request)
        if request.method == "POST" and answer.status_code >= 400:
            return await self._refused(answer, request, sent)
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_stream = kind == "text/event-stream"
        headers = answer.headers.copy()
        if is_stream:
            # Read as UTF-8, whatever charset it declares, since that is how it was counted.
            headers["content-type"] = kind
        body = self._pieces(answer, request, is_stream=is_stream)
        return httpx2.Response(answer.status_code, headers=headers.raw, stream=_Body(answer, body))

    async def _refused(self, answer: httpx.Response, request: httpx2.Request, sent: SentCall | None) -> httpx2.Response:
        """An error response, with the session loss it reports."""
        body = b""
        try:
            async with asyncio.timeout(REFUSAL_S):
                async for piece in self._pieces(answer, request, is_stream=False):
                    body += piece
        except TimeoutError:
            body = b""
        finally:
            await answer.aclose()
        if sent is not None and (self._has_stream or SESSION_HEADER in request.headers):
            sent.loss = session_loss(answer.status_code, body)
        if self._has_stream and answer.status_code != 401:
            self._refusals.on_broken()
        headers = {name: value for name, value in answer.headers.items() if name in _KEPT_HEADERS}
        return httpx2.Response(answer.status_code, headers=headers, content=body)

    async def _pieces(
        self, answer: httpx.Response, request: httpx2.Request, *, is_stream: bool
    ) -> AsyncGenerator[bytes]:
        """The body: piece by piece for a stream of events, otherwise in one piece once all of it was counted."""
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        counted = CountedAnswer(self._traffic, is_stream=is_stream)
        with self._faults(request):
            async for piece in answer.stream:
                counted.take(piece)
                if is_stream:
                    yield piece
            rest = counted.end()
            if not is_stream:
                yield rest

    @contextmanager
    def _faults(self, request: httpx2.Request) -> Generator[None]:
        try:
            yield
        except TooMuchError as error:
            self._refusals.refuse(str(error), "too_large")
            raise httpx2.ReadError("too much", request=request) from error
        except (AddressRefusedError, FetchFailedError) as error:
            is_refused = isinstance(error, AddressRefusedError)
            self._refusals.refuse(_reason(error), "address_refused" if is_refused else "unreachable")
            raise httpx2.ConnectError("refused", request=request) from error
        except httpx.ConnectTimeout as error:
            self._refusals.refuse(NO_SERVER, "unreachable")
            raise httpx2.ConnectTimeout("no server", request=request) from error
        except httpx.ConnectError as error:
            self._refusals.refuse(NO_SERVER, "unreachable")
            raise httpx2.ConnectError("no server", request=request) from error
        except httpx.TransportError as error:
            if self._has_stream and request.method == "POST":
                self._refusals.on_broken()
            raise httpx2.ReadError(type(error).__name__, request=request) from error


def _tracing(sent: SentCall | None) -> dict[str, Any]:
    """Makes the pool report when the whole request of a call was written (httpcore's extension `trace`)."""
    if sent is None:
        return {}

    async def note(event: str, _: object) -> None:
        if event.endswith(".send_request_body.complete"):
            sent.was_sent = True

    return {"trace": note}


def _reason(error: AddressRefusedError | FetchFailedError) -> str:
    return NOT_ALLOWED if isinstance(error, HostRefusedError) else error.detail


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: httpx.Response, pieces: AsyncGenerator[bytes]) -> None:
        self._answer = answer
        self._pieces = pieces

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self) -> None:
        try:
            await self._pieces.aclose()
        finally:
            await self._answer.aclose()
