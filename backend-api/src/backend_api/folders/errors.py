"""Errors of folders."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, NotFoundError


class FolderNotFoundError(NotFoundError):
    """The user has no such folder."""

    code = "folder_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such folder.")


class TooManyFoldersError(ConflictError):
    """The user has as many folders as allowed."""

    code = "folder_quota"

    def __init__(self, most: int) -> None:
        super().__init__(f"You have {most} folders, which is the maximum. Delete some first.")
