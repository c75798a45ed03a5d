"""What can go wrong with a session's sandbox."""

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
    """The sandbox can't be had: engine missing, full or slow. The detail gives the reason."""

    code = "computer_unavailable"


class SandboxLimitError(LimitError, SandboxUnavailableError):
    """The user has as many sandboxes as one may have."""

    code = "computer_limit"


class SandboxQueuedError(SandboxUnavailableError):
    """It stands in line for longer than who asked can wait. Asking again within half a minute keeps its place."""

    code = "computer_queued"

    def __init__(self, reason: QueueReason | None) -> None:
        super().__init__(_AT_OWN_LIMIT if reason == "user_limit" else _NO_ROOM)


class SandboxNotAllowedError(ConflictError, SandboxUnavailableError):
    """The image or the size that was chosen for it is not allowed any more, or is not there."""

    code = "computer_not_allowed"

    @classmethod
    def of(cls, reason: str) -> SandboxNotAllowedError:
        """With what to do."""
        return cls(
            f"{reason} Under Settings, Computers, choose another image or size for the computer of this conversation, "
            "or delete it there: the conversation then goes on with the usual computer, with its files."
        )


class RemoteHostError(SandboxUnavailableError):
    """A remote host can't be worked on; the detail says what failed and why."""

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
        """For what needs a sandbox of its own."""
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
    """The files of the sandbox take up all they may."""

    code = "disk_full"


class UploadTooLargeError(TooLargeError):
    """An upload over the limit."""

    code = "upload_too_large"


class FolderTooLargeError(TooLargeError):
    """A folder holds more than one download may."""

    code = "folder_too_large"
