"""Errors of targets."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, ForbiddenError, LimitError, NotFoundError
from backend_api.sandboxes.domain.errors import RemoteHostError
from backend_api.targets.domain import HostKey


class TargetNotFoundError(NotFoundError):
    """No such target, or another user's."""

    code = "target_not_found"


class TargetQuotaError(LimitError):
    """The user has reached the limit of targets."""

    code = "target_quota"

    @classmethod
    def of(cls, at_most: int) -> TargetQuotaError:
        """The error for a user who has `at_most`."""
        return cls(f"You have {at_most} computers, which is the maximum. Delete some first.", retry_after_s=60)


class TargetChangedError(ConflictError):
    """The target was changed by another request meanwhile; nothing was stored."""

    code = "target_changed"


class RemoteHostsOffError(ForbiddenError):
    """The deployment has no remote hosts."""

    code = "remote_hosts_off"


class HostAddressRefusedError(RemoteHostError):
    """The host has an address that the deployment does not connect to."""

    code = "remote_host_address_refused"


class HostUnreachableError(RemoteHostError):
    """The host does not answer, or not as an SSH server."""

    code = "remote_host_unreachable"


class HostKeyUnconfirmedError(ConflictError, RemoteHostError):
    """The key of the host is not confirmed yet; `seen` is the one that it showed."""

    seen: HostKey | None = None
    code = "remote_host_key_unconfirmed"


class HostKeyChangedError(ConflictError, RemoteHostError):
    """The host shows another key than the confirmed one: it may be another machine. `seen` is that key."""

    seen: HostKey | None = None
    code = "remote_host_key_changed"


class SignInRefusedError(ConflictError, RemoteHostError):
    """The host refuses the log-in with this key."""

    code = "remote_host_sign_in_refused"


class HostUnusableError(ConflictError, RemoteHostError):
    """The host accepts the log-in, but lacks something that is needed."""

    code = "remote_host_unusable"


class TargetGoneError(ConflictError, RemoteHostError):
    """The computer of a session was deleted."""

    code = "target_gone"
