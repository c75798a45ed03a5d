"""Ports (in the sense of the architecture) that opened ports need."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from backend_api.agent.events import Event
from backend_api.kit.ids import SessionId, UserId
from backend_api.previews.domain.entity import OpenedPort, PortId, PreviewGrant
from backend_api.sandboxes.domain.entity import Sandbox

Headers = Sequence[tuple[bytes, bytes]]
"""Headers in their order, with names in lower case."""


class OpenedPorts(Protocol):
    """The opened ports of all sessions. A change and its events are stored in one transaction: the change, then the
    whole new list, which is always that of `of_session`."""

    async def open(self, port: OpenedPort, *, at_most: int) -> tuple[OpenedPort, list[Event]]:
        """Store the port, unless the session has it open already: then that one, and no events. Raises
        `SessionNotFoundError`, `TooManyPortsError`."""
        ...

    async def close(self, session_id: SessionId, user_id: UserId, port_id: PortId) -> list[Event]:
        """Raises `PortNotFoundError`."""
        ...

    async def of_session(self, session_id: SessionId) -> list[OpenedPort]:
        """The ports of the session, the latest last."""
        ...

    async def present(self, port_ids: Collection[PortId]) -> dict[PortId, OpenedPort]:
        """The ports among these that are open, and whose session exists and belongs to their user."""
        ...


class PreviewTokens(Protocol):
    """Signs the two tokens of a port: an address, which is valid for a minute, and the cookie it is exchanged for."""

    def sign_address(self, grant: PreviewGrant, *, expires_s: int) -> str: ...

    def read_address(self, token: str) -> PreviewGrant:
        """The grant of an address. Raises `PreviewTokenError`."""
        ...

    def sign_cookie(self, grant: PreviewGrant, *, expires_s: int) -> str: ...

    def read_cookie(self, token: str) -> PreviewGrant:
        """The grant of a cookie. Raises `PreviewTokenError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AppRequest:
    """A request to the program at a port, without the fields of the connection. `target` is path and query; `body` is
    None if there is none, and has the length that the headers declare, or no declared length."""

    method: bytes
    target: bytes
    headers: Headers
    body: AsyncIterator[bytes] | None = None


class AppAnswer(Protocol):
    """The program's answer, which is untrusted."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Headers: ...

    def pieces(self) -> AsyncIterator[bytes]:
        """The body as it arrives. Raises `AppFailedError`."""
        ...


class AppSocket(Protocol):
    """A WebSocket of the program."""

    @property
    def subprotocol(self) -> str | None: ...

    async def send(self, message: str | bytes) -> None:
        """Raises `AppFailedError`."""
        ...

    def messages(self) -> AsyncIterator[str | bytes]:
        """Receive messages until it closes."""
        ...

    @property
    def end(self) -> tuple[int, str]:
        """Code and reason of its close, once it is closed."""
        ...


class SandboxApps(Protocol):
    """Programs that listen in sandboxes. Both methods raise `NothingListensError`, `AppFailedError`,
    `PortRefusedError`, `TooManyPreviewsError`, `SandboxUnavailableError`."""

    def ask(self, sandbox: Sandbox, port: int, request: AppRequest) -> AbstractAsyncContextManager[AppAnswer]:
        """Send a request; the answer is available once it has begun. The connection ends with the block."""
        ...

    def connect(
        self, sandbox: Sandbox, port: int, request: AppRequest, subprotocols: Sequence[str]
    ) -> AbstractAsyncContextManager[AppSocket]:
        """A WebSocket, closed with the block."""
        ...
