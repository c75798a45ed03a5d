"""One-use tickets that open a socket to a sandbox, so that no token stands in an address."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from backend_api.kit.errors import ConflictError, NotFoundError, UnauthenticatedError
from backend_api.kit.ids import SessionId, UserId

ScreenMode = Literal["view", "control"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenTicket:
    """A ticket, bound to user, session and mode, and to the log-in that requested it (as in `AccessClaims`). One for
    control is also bound to the `client` that has the lease, if it has a name."""

    user_id: str
    session_id: str
    mode: ScreenMode
    family: str = ""
    token_version: int = 0
    expires_at: float | None = None
    client: str = ""


class TicketInvalidError(UnauthenticatedError):
    """A ticket that is unknown, used, expired, or of another session."""

    code = "ticket_invalid"


class ControlLostError(ConflictError):
    """Another client controls the computer, or nobody does any more."""

    code = "control_lost"


class Controls(Protocol):
    """The lease of control of a session's computer, which one client has at a time."""

    def watch(self, session_id: SessionId, user_id: UserId, client: str) -> AbstractAsyncContextManager[asyncio.Event]:
        """An event that is set once the client has lost control. A client without a name gets a lease for the length of
        the block. Raises `ControlLostError` if the client does not have control at first."""
        ...


class Tickets(Protocol):
    """Keeps tickets until they are used, at most for their time."""

    async def issue(self, ticket: ScreenTicket, *, ttl_s: int) -> str:
        """The secret for the ticket. Raises `UnavailableError`."""
        ...

    async def redeem(self, secret: str) -> ScreenTicket | None:
        """The ticket the first time, None ever after."""
        ...


class LinkInvalidError(NotFoundError):
    """A signed link that is forged or expired."""

    code = "link_invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLink:
    """The right to fetch one file, or a folder and each file in it, without logging in. A page that runs knows its own
    address: with `is_running` only single files are fetched, and none that is hidden."""

    user_id: str
    session_id: str
    path: str
    is_folder: bool = False
    is_running: bool = False


class FileLinks(Protocol):
    """Signs and reads links."""

    def sign(self, link: FileLink, *, expires_s: int) -> str: ...

    def read(self, token: str) -> FileLink:
        """The link of a token. Raises `LinkInvalidError`."""
        ...
