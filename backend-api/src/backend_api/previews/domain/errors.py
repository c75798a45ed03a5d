"""Errors of opened ports, and of the programs behind them."""

from __future__ import annotations

from backend_api.kit.errors import (
    ConflictError,
    InvalidError,
    LimitError,
    NotFoundError,
    UnauthenticatedError,
    UnavailableError,
    UpstreamError,
)


class PortRefusedError(InvalidError):
    """The port may not be opened."""

    code = "port_refused"


class PortsOffError(ConflictError):
    """The deployment has no domain for opened ports."""

    code = "ports_off"

    def __init__(self) -> None:
        super().__init__(
            "Opening ports is turned off on this server. Its operator can turn it on by setting PREVIEW_DOMAIN to a "
            "domain whose names all resolve to this server."
        )


class TooManyPortsError(ConflictError):
    """The session has reached the limit of open ports."""

    code = "too_many_ports"

    @classmethod
    def of(cls, at_most: int) -> TooManyPortsError:
        """The error for a session that has `at_most`."""
        return cls(f"This conversation has {at_most} ports open, which is the maximum. Close one first.")


class PortNotFoundError(NotFoundError):
    """The port is closed, belongs to another session, or never existed."""

    code = "port_not_found"


class PreviewTokenError(UnauthenticatedError):
    """The token of an address or of a cookie is forged, expired, or of another port."""

    code = "preview_token_invalid"


class TooManyPreviewsError(LimitError):
    """An opened port, or all ports of a user, have reached the limit of connections."""

    code = "too_many_previews"


class SandboxNotRunningError(ConflictError):
    """The sandbox of the session does not run, and is not started for this."""

    code = "computer_not_running"


class NothingListensError(UnavailableError):
    """No program takes connections at this port."""

    code = "nothing_listens"


class AppFailedError(UpstreamError):
    """The program at the port broke off, took too long, or sent an invalid answer."""

    code = "app_failed"
