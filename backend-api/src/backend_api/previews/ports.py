"""What opened ports need of the outside."""

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
"""Names in small letters, in their order."""


class OpenedPorts(Protocol):
    """Those of all sessions. A change is told in the stream of the session in the same transaction: what changed, then
    the whole new value, which is always that of `of_session`."""

    async def open(self, port: OpenedPort, *, at_most: int) -> tuple[OpenedPort, list[Event]]:
        """Store it, unless the session has that port open: then that one, and no events. Raises
        `SessionNotFoundError`, `TooManyPortsError`."""
        ...

    async def close(self, session_id: SessionId, user_id: UserId, port_id: PortId) -> list[Event]:
        """Raises `PortNotFoundError`."""
        ...

    async def of_session(self, session_id: SessionId) -> list[OpenedPort]:
        """The one opened last comes last."""
        ...

    async def present(self, port_ids: Collection[PortId]) -> dict[PortId, OpenedPort]:
        """Those of them that are open, and whose session is still there and their user's."""
        ...


class PreviewTokens(Protocol):
    """Signs what opens a port in a browser: an address, which holds for a minute, and the cookie it is traded for."""

    def sign_address(self, grant: PreviewGrant, *, expires_s: int) -> str: ...

    def read_address(self, token: str) -> PreviewGrant:
        """Raises `PreviewTokenError`."""
        ...

    def sign_cookie(self, grant: PreviewGrant, *, expires_s: int) -> str: ...

    def read_cookie(self, token: str) -> PreviewGrant:
        """Raises `PreviewTokenError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AppRequest:
    """One to the program at a port, but for what belongs to the connection. `target` is path and query; `body` is None
    where there is none, and of a length that the headers say, or of none."""

    method: bytes
    target: bytes
    headers: Headers
    body: AsyncIterator[bytes] | None = None


class AppAnswer(Protocol):
    """What the program says: nothing of it may be believed."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Headers: ...

    def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises `AppFailedError`."""
        ...


class AppSocket(Protocol):
    """A WebSocket of the program."""

    @property
    def subprotocol(self) -> str | None: ...

    async def send(self, message: str | bytes) -> None:
        """Raises `AppFailedError`."""
        ...

    def messages(self) -> AsyncIterator[str | bytes]:
        """Until it closes."""
        ...

    @property
    def end(self) -> tuple[int, str]:
        """Code and reason of its close, once it is closed."""
        ...


class SandboxApps(Protocol):
    """Programs that listen in sandboxes. Both raise `NothingListensError`, `AppFailedError`, `PortRefusedError`,
    `TooManyPreviewsError`, `SandboxUnavailableError`."""

    def ask(self, sandbox: Sandbox, port: int, request: AppRequest) -> AbstractAsyncContextManager[AppAnswer]:
        """Its answer, once it has begun. The connection ends with the block."""
        ...

    def connect(
        self, sandbox: Sandbox, port: int, request: AppRequest, subprotocols: Sequence[str]
    ) -> AbstractAsyncContextManager[AppSocket]:
        """A WebSocket, closed with the block."""
        ...
