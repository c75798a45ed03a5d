"""Errors of the tool API, in the families all services share."""

from __future__ import annotations

import errno

from service_kit.failures import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    PreconditionError,
    TooLargeError,
    UnauthenticatedError,
)

__all__ = [
    "ENVIRONMENT_FAULTS",
    "ClaimedError",
    "ConflictError",
    "DiskFullError",
    "FolderTooLargeError",
    "InvalidUploadError",
    "NotFoundError",
    "PathForbiddenError",
    "PreconditionError",
    "ScopeMissingError",
    "TooLargeError",
    "UnauthenticatedError",
]


ENVIRONMENT_FAULTS = frozenset({errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Error numbers of an `OSError` that are the machine's fault, not that of the given path."""


class ScopeMissingError(ForbiddenError):
    """The token lacks the scope that the route requires."""

    code = "scope_missing"


class PathForbiddenError(ForbiddenError):
    """The path leads out of the folders files may be touched in."""

    code = "path_forbidden"


class ClaimedError(ConflictError):
    """The sandbox has been claimed already."""

    code = "claimed"


class InvalidUploadError(InvalidError):
    """The upload's form is invalid."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, field="body.files")


class DiskFullError(TooLargeError):
    """The workspace would hold more than it may."""

    code = "disk_full"


class FolderTooLargeError(TooLargeError):
    """A folder holds more than one download may."""

    code = "folder_too_large"
