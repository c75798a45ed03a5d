"""What can go wrong with folders."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, NotFoundError


class FolderNotFoundError(NotFoundError):
    """There is no such folder of this user's."""

    code = "folder_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such folder.")


class TooManyFoldersError(ConflictError):
    """A user has as many folders as one may have."""

    code = "folder_quota"

    def __init__(self, most: int) -> None:
        super().__init__(f"You have {most} folders, which is the maximum. Delete some first.")
