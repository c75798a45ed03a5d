"""What can go wrong with targets."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, ForbiddenError, LimitError, NotFoundError
from backend_api.sandboxes.domain.errors import RemoteHostError
from backend_api.targets.domain import HostKey


class TargetNotFoundError(NotFoundError):
    """No such target, or another user's."""

    code = "target_not_found"


class TargetQuotaError(LimitError):
    """The user has as many targets as one may have."""

    code = "target_quota"

    @classmethod
    def of(cls, at_most: int) -> TargetQuotaError:
        """For a user who has `at_most`."""
        return cls(f"You have {at_most} computers, which is the maximum. Delete some first.", retry_after_s=60)


class TargetChangedError(ConflictError):
    """Somebody else changed it meanwhile; nothing was stored."""

    code = "target_changed"


class RemoteHostsOffError(ForbiddenError):
    """The deployment has no remote hosts."""

    code = "remote_hosts_off"


class HostAddressRefusedError(RemoteHostError):
    """The host has an address that the deployment does not connect to."""

    code = "remote_host_address_refused"


class HostUnreachableError(RemoteHostError):
    """It does not answer, or not as an SSH server does."""

    code = "remote_host_unreachable"


class HostKeyUnconfirmedError(ConflictError, RemoteHostError):
    """Nobody confirmed the key of the host yet; `seen` is the one that it showed."""

    seen: HostKey | None = None
    code = "remote_host_key_unconfirmed"


class HostKeyChangedError(ConflictError, RemoteHostError):
    """The host shows another key than the one that was confirmed: it may be another machine. `seen` is that key."""

    seen: HostKey | None = None
    code = "remote_host_key_changed"


class SignInRefusedError(ConflictError, RemoteHostError):
    """The host does not let the user in with this key."""

    code = "remote_host_sign_in_refused"


class HostUnusableError(ConflictError, RemoteHostError):
    """It lets the user in, and lacks something that is needed there."""

    code = "remote_host_unusable"


class TargetGoneError(ConflictError, RemoteHostError):
    """The computer of a session was deleted."""

    code = "target_gone"
