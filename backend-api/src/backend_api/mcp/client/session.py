"""One connection to a server, over whatever transport. The protocol's package is imported here: it takes a second."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, TypeVar, cast

from mcp import ClientSession, MCPError
from mcp.client.session import IncomingMessage
from mcp_types import (
    CONNECTION_CLOSED,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from backend_api.agent.tool import Done, ToolCall
from backend_api.kit.masking import Mask
from backend_api.mcp.client.guarded_transport import Refusals, ScopeRefusal, SentCall, SignInRefusal
from backend_api.mcp.client.listing import ListedTool, listing_of
from backend_api.mcp.client.progress import ProgressLines
from backend_api.mcp.client.results import refused, to_done
from backend_api.mcp.domain.entity import Listing, McpCause, McpServer
from backend_api.mcp.domain.sign_in import may_sign_in
from backend_api.mcp.ports import McpNotCalledError, McpServerError

logger = logging.getLogger(__name__)

CLOSE_S = 0.3
MAX_PAGES = 20
MAX_LISTED = 1_000
CLIENT = Implementation(name="deskmate", version="1")
NO_ANSWER = "It does not respond as an MCP server. Check its address."
ENDED = "Its connection ended."
NEEDS_SIGN_IN = "It needs you to sign in: do so in the settings, MCP servers."
NEEDS_SCOPE = (
    "It did nothing because it needs more access than you granted at sign-in: {}. Sign in again in the settings, "
    "MCP servers, which asks for that."
)
SCOPE_REFUSED = "It did nothing: it denies you access to this, although you are signed in (insufficient_scope)."
REFUSED = "It rejected the Authorization in its headers (status 401). Check that header in the settings."
WANTS_TOKEN = "It requires a token (status 401) and offers no sign-in: set one in its headers, such as Authorization."
FORGETS = "It no longer recognises the session that it opened (status {})."
STATUS = "The server responded to the call with status {}."
MAY_HAVE = " The call may have happened."
BROKE_OFF = "The server's response was cut off or is too large. The call may have happened."
ODD = "The server's response is not a tool result."
_BROKEN_OFF = ("Connection closed", "SSE stream ended", "SSE stream failed")
"""The beginnings of the package's own messages for it: its code, -32000, is used by servers for any failure."""
_STATUS_WORDS = ("Server returned an error response", "Not Found", "Session terminated")
"""The package's own messages for an HTTP error without a body."""
MAX_SAID_SCOPES = 300
T = TypeVar("T")
Streams = AbstractAsyncContextManager[Any]


class _Session(ClientSession):
    """Does not validate results: the schema is the server's own, and may take for ever to check."""

    async def validate_tool_result(self, name: str, result: CallToolResult) -> None:
        """Accepts any result."""


class SessionConnection:
    """`McpConnection`. It lives in one task, as the package requires, and ends with that task."""

    def __init__(self, server: McpServer, mask: Mask, refusals: Refusals) -> None:
        self._server = server
        self._mask = mask
        self._refusals = refusals
        self._closing = asyncio.Event()
        refusals.on_broken = self._closing.set
        self._session: ClientSession | None = None
        self._opened = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self.has_changed = False
        self.is_doubtful = False

    @property
    def is_open(self) -> bool:
        is_held = self._owner is not None and not self._owner.done() and not self._closing.is_set()
        return is_held and self._session is not None

    async def open(self, streams: Streams) -> None:
        """Opens the connection. Raises `McpServerError`. Cancelling closes it."""
        self._owner = asyncio.create_task(self._hold_session(streams), name="mcp")
        opened = asyncio.create_task(self._opened.wait())
        broken = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait({self._owner, opened, broken}, return_when=asyncio.FIRST_COMPLETED)
            if not opened.done():
                await self.close()
        except asyncio.CancelledError:
            await self.close()
            raise
        finally:
            opened.cancel()
            broken.cancel()
        if not self.is_open:
            raise self._fault(NO_ANSWER)

    async def listing(self) -> Listing:
        self.has_changed = False
        with self._refusals.of_call() as (_, sent):
            try:
                listed = [tool async for tool in self._list_tools()]
            except McpServerError as error:
                if error.cause != "ended":
                    raise
                raise McpNotCalledError(str(error), error.cause) from error
            except (MCPError, ValidationError, RuntimeError) as error:
                if sent.loss is not None:
                    # Listing only reads, so it can be repeated.
                    raise self._forgotten(sent) from error
                if str(error).startswith(_BROKEN_OFF[0]) and not self._refusals.said:
                    self._closing.set()
                    raise self._not_called() from error
                raise self._fault("Its list of tools does not follow the protocol.") from error
        return listing_of(self._server, listed, self._mask)

    async def call(self, name: str, call: ToolCall) -> Done:
        """Calls a tool. Raises `McpNotCalledError` if the call was not sent, or was refused for an unknown session."""
        if not self.is_open:
            raise self._not_called()
        with self._refusals.of_call() as (refusal, sent):
            if self._server.transport == "stdio":
                # How much of it a program has read is unknown.
                sent.was_sent = True
            try:
                return await self._call(name, call, refusal, sent)
            except McpServerError as error:
                if refusal.is_told or not sent.can_not_have_happened:
                    raise
                raise (self._forgotten(sent) if sent.loss == "forgotten" else self._not_called()) from error

    async def _call(self, name: str, call: ToolCall, refusal: SignInRefusal, sent: SentCall) -> Done:
        progress = ProgressLines(call.on_output, self._mask)
        try:
            asked = self._opened_session().call_tool(name, call.arguments, progress_callback=progress)
            result = await self._await_answer(asked)
        except MCPError as error:
            if refusal.is_told:
                raise self._fault(ENDED) from error
            if sent.can_not_have_happened or not self.is_open:
                raise self._fault(ENDED, "ended") from error
            if error.code == CONNECTION_CLOSED and str(error).startswith(_BROKEN_OFF[0]):
                # Nothing more can be sent over it.
                self._closing.set()
            if error.code == CONNECTION_CLOSED and str(error).startswith(_BROKEN_OFF):
                return Done(success=False, output=f"{BROKE_OFF} {self._fault('')}".strip())
            self.is_doubtful = self.is_doubtful or sent.loss is not None
            return self._refused(str(error), sent)
        except (ValidationError, RuntimeError):
            return Done(success=False, output=ODD)
        finally:
            progress.end()
        # A long answer full of escape sequences takes seconds.
        return await asyncio.to_thread(to_done, result, self._mask)

    def _refused(self, reason: str, sent: SentCall) -> Done:
        """The result of a call that the server answered with an error."""
        if sent.status is None or reason not in _STATUS_WORDS:
            done = refused(reason, self._mask)
            return replace(done, output=done.output + MAY_HAVE) if sent.loss is not None else done
        may_have = sent.status >= 500 or sent.loss is not None
        return Done(success=False, output=STATUS.format(sent.status) + (MAY_HAVE if may_have else ""))

    async def close(self) -> None:
        self._closing.set()
        owner = self._owner
        if owner is None:
            return
        await asyncio.wait({owner}, timeout=CLOSE_S)
        if not owner.done():
            owner.cancel()
            await asyncio.wait({owner}, timeout=CLOSE_S)
        if not owner.done():
            logger.warning("a connection to an MCP server ends slowly", extra={"server": self._server.name})

    async def _list_tools(self) -> AsyncGenerator[ListedTool]:
        cursor: str | None = None
        count = 0
        for _ in range(MAX_PAGES):
            page = await self._await_answer(
                self._opened_session().list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
            )
            for tool in page.tools:
                count += 1
                if count > MAX_LISTED:
                    return
                yield ListedTool(tool.name, tool.description or tool.title or "", tool.input_schema)
            cursor = page.next_cursor
            if not cursor or count >= MAX_LISTED:
                return

    async def _await_answer(self, asking: Awaitable[T]) -> T:
        """The answer, or `McpServerError` once the connection has ended."""
        if self._owner is None:
            raise self._fault(ENDED, "ended")
        answer: asyncio.Future[T] = asyncio.ensure_future(asking)
        try:
            await asyncio.wait({answer, self._owner}, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise self._fault(ENDED, "ended")
        finally:
            if not answer.done():
                # Cancelling notifies the server.
                answer.cancel()
                await asyncio.wait({answer}, timeout=CLOSE_S)

    async def _hold_session(self, streams: Streams) -> None:
        try:
            async with streams as (read, write):
                async with _Session(read, write, client_info=CLIENT, message_handler=self._on_message) as session:
                    await _negotiate(session)
                    self._session = session
                    self._opened.set()
                    await self._closing.wait()
        except Exception as error:  # noqa: BLE001 -- whatever the package makes of it, whoever waits is told a reason
            kinds = sorted({type(one).__name__ for one in _causes(error)})
            logger.info("an MCP server disconnected", extra={"server": self._server.name, "kinds": kinds})

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.has_changed = True

    def _opened_session(self) -> ClientSession:
        if self._session is None:
            raise self._fault(ENDED, "ended")
        return self._session

    def _forgotten(self, sent: SentCall) -> McpNotCalledError:
        return McpNotCalledError(FORGETS.format(sent.status), "ended")

    def _not_called(self) -> McpNotCalledError:
        fault = self._fault(ENDED, "ended")
        return McpNotCalledError(str(fault), fault.cause)

    def _fault(self, otherwise: str, cause: McpCause = "bad_answer") -> McpServerError:
        """The error that the server's responses point to, or else this one."""
        refusals = self._refusals
        if refusals.said:
            return McpServerError(self._mask.known(refusals.said), refusals.cause)
        if (scope := refusals.sign_in.scope) is not None:
            return _scope_fault(scope)
        if (refusals.sign_in.needs_sign_in or refusals.own.needs_sign_in) and may_sign_in(self._server):
            return McpServerError(NEEDS_SIGN_IN, "needs_sign_in")
        if refusals.status == 401:
            return McpServerError(WANTS_TOKEN if may_sign_in(self._server) else REFUSED, "refused")
        if refusals.status is not None:
            return McpServerError(f"It responds with status {refusals.status}.", "status")
        return McpServerError(otherwise, cause)


async def _negotiate(session: ClientSession) -> None:
    """Initialises the session in the widespread form of the protocol; servers that know only the later form say so."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise
        await session.discover()


def _scope_fault(refusal: ScopeRefusal) -> McpServerError:
    if refusal.may_help:
        return McpServerError(NEEDS_SCOPE.format(refusal.scopes[:MAX_SAID_SCOPES]), "needs_scope")
    return McpServerError(SCOPE_REFUSED, "scope_refused")


def _causes(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, ExceptionGroup):
        for one in cast("tuple[BaseException, ...]", error.exceptions):
            yield from _causes(one)
    else:
        yield error
