"""What can go wrong with opened ports, and with what listens behind them."""

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
    """No port that may be opened."""

    code = "port_refused"


class PortsOffError(ConflictError):
    """The deployment has no domain for them."""

    code = "ports_off"

    def __init__(self) -> None:
        super().__init__(
            "Opening ports is off on this server. Whoever runs it turns it on by PREVIEW_DOMAIN: a domain of which "
            "every name leads to this server."
        )


class TooManyPortsError(ConflictError):
    """The session has as many open as one may have."""

    code = "too_many_ports"

    @classmethod
    def of(cls, at_most: int) -> TooManyPortsError:
        """For a session that has `at_most`."""
        return cls(f"This conversation has {at_most} ports open, which is the maximum. Close one first.")


class PortNotFoundError(NotFoundError):
    """Closed, of another session, or none."""

    code = "port_not_found"


class PreviewTokenError(UnauthenticatedError):
    """An address or a cookie of one that is forged, expired, or of another port."""

    code = "preview_token_invalid"


class TooManyPreviewsError(LimitError):
    """More goes over an opened port, or over all of a user, than may at once."""

    code = "too_many_previews"


class SandboxNotRunningError(ConflictError):
    """The sandbox of the session does not run, and is not started for this."""

    code = "computer_not_running"


class NothingListensError(UnavailableError):
    """No program takes connections at this port."""

    code = "nothing_listens"


class AppFailedError(UpstreamError):
    """The program at the port broke off, took too long, or said what is no answer."""

    code = "app_failed"
