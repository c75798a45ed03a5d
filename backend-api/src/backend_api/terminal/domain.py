"""Terminals of a sandbox, and the one-use tickets that open them."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.kit.errors import ForbiddenError, InvalidError, LimitError, SlowReaderError, UnauthenticatedError

MAIN = "main"
"""The terminal that is opened if none is named."""
TICKET_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalTicket:
    """Bound to user, session, terminal, and the log-in that asked for it."""

    user_id: str
    session_id: str
    terminal: str
    family: str = ""
    token_version: int = 0
    expires_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalState:
    """An open terminal. `is_busy`: a program runs in its foreground."""

    name: str
    cols: int
    rows: int
    viewers: int
    is_busy: bool


class TerminalTicketInvalidError(UnauthenticatedError):
    """A ticket that is unknown, used, expired, or of another session."""

    code = "ticket_invalid"


class TerminalRefusedError(ForbiddenError):
    """The operator allows only some commands in sandboxes, so there are no terminals."""

    code = "terminal_refused"


class TooManyTerminalsError(LimitError):
    """The sandbox has reached the limit of terminals, or the terminal the limit of viewers."""

    code = "too_many_terminals"


class TerminalFrameError(InvalidError):
    """Messages of the viewer break the protocol."""

    code = "terminal_protocol"


class SlowViewerError(SlowReaderError):
    """The viewer did not read for too long."""

    code = "too_slow"
