"""`Terminals` over the endpoints of sandboxes.

A sandbox may send anything: its frames are parsed and written anew.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated
from urllib.parse import urlencode

from pydantic import Field, TypeAdapter, ValidationError
from websockets.exceptions import ConnectionClosed, WebSocketException

from backend_api.kit.errors import DomainError
from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import SandboxLostError, SandboxUnavailableError
from backend_api.sandboxes.tool_api.endpoint_faults import endpoint_faults
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.sockets import BoundedConnection, open_socket
from backend_api.terminal.domain import (
    SlowViewerError,
    TerminalFrameError,
    TerminalRefusedError,
    TerminalState,
    TooManyTerminalsError,
)
from contracts.terminals import (
    MAX_SENT_BYTES,
    MAX_TERMINALS,
    MAX_VIEWERS,
    PATH,
    TERMINAL_FRAME,
    CloseCode,
    TerminalEntry,
)
from service_kit.bounded_http import Bounds
from service_kit.bounded_json import MalformedJsonError, read_json

logger = logging.getLogger(__name__)

_SCOPES = (Scope.EXEC,)
_NORMAL = (CloseCode.ENDED, 1001)
_ENTRIES = TypeAdapter(Annotated[list[TerminalEntry], Field(max_length=MAX_TERMINALS)])
_BOUNDS = Bounds(body_bytes=64 * 1024, head_s=30.0, whole_s=40.0)
_RETRY_AFTER_S = 5
_MALFORMED = "The computer's response was malformed."
_BROKEN = "The connection to the computer was lost."


class ToolApiTerminal:
    """`OpenTerminal` over a WebSocket."""

    def __init__(self, connection: BoundedConnection) -> None:
        self._connection = connection

    async def send(self, message: str | bytes) -> None:
        try:
            await self._connection.send(message)
        except ConnectionClosed as error:
            raise self._fault() from error

    async def messages(self) -> AsyncIterator[str | bytes]:
        try:
            while True:
                message = await self._connection.recv()
                yield message if isinstance(message, bytes) else _frame(message)
        except ConnectionClosed as error:
            code = self._connection.close_code
            if self._connection.refused is None and code in _NORMAL:
                return
            raise self._fault() from error

    def _fault(self) -> DomainError:
        match self._connection.close_code:
            case CloseCode.REFUSED:
                return TerminalRefusedError("Only some commands are allowed on this server, so there are no terminals.")
            case CloseCode.TOO_MANY:
                return TooManyTerminalsError(
                    f"A computer has {MAX_TERMINALS} terminals with {MAX_VIEWERS} viewers each at most. Close one.",
                    retry_after_s=_RETRY_AFTER_S,
                )
            case CloseCode.TOO_SLOW:
                return SlowViewerError("The terminal's output was not taken in time. Connect again.")
            case CloseCode.UNSUPPORTED | CloseCode.BAD_FRAMES | CloseCode.BAD_NAME:
                return TerminalFrameError("A message was too long, or too many were not understood.", field="message")
            case _:
                return SandboxUnavailableError("The connection to the computer's terminal ended.")


class ToolApiTerminals:
    """Opens terminals of sandboxes."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints

    @asynccontextmanager
    async def open(
        self, sandbox: Sandbox, name: str, *, after: int | None, began: int | None
    ) -> AsyncGenerator[ToolApiTerminal]:
        known = {key: str(value) for key, value in (("after", after), ("began", began)) if value is not None}
        token = await self._endpoints.address(sandbox, _SCOPES)
        path = f"{PATH}/{name}" + (f"?{urlencode(known)}" if known else "")
        opening = open_socket(token, path, max_size=MAX_SENT_BYTES)
        try:
            connection = await opening.__aenter__()
        except (OSError, WebSocketException, TimeoutError) as error:
            await self._endpoints.forget(sandbox)
            raise SandboxUnavailableError("The computer's terminal does not answer.") from error
        try:
            yield ToolApiTerminal(connection)
        finally:
            await opening.__aexit__(None, None, None)

    async def list(self, sandbox: Sandbox) -> list[TerminalState]:
        content = await self._ask(sandbox, "GET", PATH)
        try:
            entries = read_json(_ENTRIES, content, most_values=1_000)
        except MalformedJsonError as error:
            raise SandboxLostError(_MALFORMED) from error
        return [TerminalState(**entry.model_dump()) for entry in entries]

    async def close(self, sandbox: Sandbox, name: str) -> None:
        await self._ask(sandbox, "DELETE", f"{PATH}/{name}")

    async def _ask(self, sandbox: Sandbox, method: str, path: str) -> bytes:
        async with (
            endpoint_faults(self._endpoints, sandbox, refused=_MALFORMED, broken=_BROKEN),
            self._endpoints.open(sandbox, _SCOPES) as endpoint,
        ):
            answer = await endpoint.ask(method, path, _BOUNDS)
        if answer.status >= 400:
            if answer.status == 401:
                self._endpoints.refuse(sandbox)
            raise SandboxLostError("The computer refused the request. Try again in a moment.")
        return answer.content


def _frame(text: str) -> str:
    """A frame of the sandbox, reduced to the fields of the contract."""
    try:
        return TERMINAL_FRAME.validate_json(text).model_dump_json()
    except ValidationError as error:
        raise SandboxUnavailableError("The computer's terminal sent a message that is not understood.") from error
