"""What can go wrong at the door.

ToolApiError
├── UnauthenticatedError    no token, or one this sandbox does not accept
├── ForbiddenError          known, and not allowed
│   ├── ScopeMissingError
│   └── PathForbiddenError  the path leads out of the workspace
├── NotFoundError
├── ConflictError
│   └── ClaimedError        the sandbox is somebody's already
├── InvalidError
└── TooLargeError
    ├── FolderTooLargeError more than one download may hold
    └── DiskFullError       the workspace would hold more than it may
"""

from __future__ import annotations


class ToolApiError(Exception):
    """An error the door explains to its caller."""

    code = "error"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class UnauthenticatedError(ToolApiError):
    """No token, or one this sandbox does not accept."""

    code = "unauthenticated"


class ForbiddenError(ToolApiError):
    """Known, and not allowed."""

    code = "forbidden"


class ScopeMissingError(ForbiddenError):
    """The token does not carry the scope the route asks for."""

    code = "scope_missing"


class PathForbiddenError(ForbiddenError):
    """The path leads out of the folders files may be touched in."""

    code = "path_forbidden"


class NotFoundError(ToolApiError):
    """There is no such thing."""

    code = "not_found"


class ConflictError(ToolApiError):
    """It can't be done in the present state."""

    code = "conflict"


class ClaimedError(ConflictError):
    """The sandbox is somebody's already."""

    code = "claimed"


class InvalidError(ToolApiError):
    """The request makes no sense."""

    code = "invalid"


class TooLargeError(ToolApiError):
    """More bytes than allowed."""

    code = "too_large"


class DiskFullError(TooLargeError):
    """The workspace would hold more than it may."""

    code = "disk_full"


class FolderTooLargeError(TooLargeError):
    """A folder holds more than one download may."""

    code = "folder_too_large"
