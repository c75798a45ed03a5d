"""Errors of a session's sandbox."""

from __future__ import annotations

from backend_api.kit.errors import (
    ConflictError,
    ForbiddenError,
    LimitError,
    NotFoundError,
    TooLargeError,
    UnavailableError,
)
from backend_api.sandboxes.domain.entity import QueueReason

_AT_OWN_LIMIT = (
    "As many of your computers are running as you may have, and all are in use, so this conversation's computer waits "
    "for one of them. Stop what needs one of them or delete its conversation, or try again in a moment."
)
_NO_ROOM = "All computers are in use, so this conversation's computer waits for one. Try again in a moment."


class SandboxUnavailableError(UnavailableError):
    """The sandbox is not available: engine missing, full or slow. The detail gives the reason."""

    code = "computer_unavailable"


class SandboxLimitError(LimitError, SandboxUnavailableError):
    """The user has reached the limit of sandboxes."""

    code = "computer_limit"


class SandboxQueuedError(SandboxUnavailableError):
    """It stays in the queue for longer than the caller can wait. A repeated call within half a minute keeps its
    place."""

    code = "computer_queued"

    def __init__(self, reason: QueueReason | None) -> None:
        super().__init__(_AT_OWN_LIMIT if reason == "user_limit" else _NO_ROOM)


class SandboxNotAllowedError(ConflictError, SandboxUnavailableError):
    """The image or size chosen for it is not allowed any more, or is missing."""

    code = "computer_not_allowed"

    @classmethod
    def of(cls, reason: str) -> SandboxNotAllowedError:
        """The error for this reason, with advice for the user."""
        return cls(
            f"{reason} Under Settings, Computers, choose another image or size for the computer of this conversation, "
            "or delete it there: the conversation then goes on with the usual computer, with its files."
        )


class RemoteHostError(SandboxUnavailableError):
    """A remote host can't be used; the detail gives what failed and why."""

    code = "remote_host_unavailable"


class SandboxLostError(UnavailableError):
    """The sandbox went away in the middle of a call; what the call did is unknown."""

    code = "computer_lost"


class NoDesktopError(ConflictError):
    """This sandbox has no desktop."""

    code = "no_desktop"


class NotOnRemoteHostError(ConflictError):
    """A remote host has shells, files and ports, and nothing else that a sandbox has."""

    code = "not_on_remote_host"

    @classmethod
    def of_session(cls) -> NotOnRemoteHostError:
        """The error for a feature that needs a sandbox."""
        return cls(
            "This conversation works on a remote host, which has shells, files and ports only. Begin a conversation on "
            "the usual computer for this."
        )


class PathForbiddenError(ForbiddenError):
    """A path outside the workspace, through a symlink too."""

    code = "path_forbidden"


class FileMissingError(NotFoundError):
    """No such file in the workspace."""

    code = "file_not_found"


class SandboxFullError(TooLargeError):
    """The files of the sandbox have reached their limit."""

    code = "disk_full"


class UploadTooLargeError(TooLargeError):
    """An upload over the limit."""

    code = "upload_too_large"


class FolderTooLargeError(TooLargeError):
    """A folder is too large for one download."""

    code = "folder_too_large"
