"""Errors of folders."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, NotFoundError, TooLargeError


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


class FolderFileNotFoundError(NotFoundError):
    """There is no such file in this folder."""

    code = "folder_file_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such file in this folder.")


class FolderFullError(TooLargeError):
    """The files of a folder are as many, or as large together, as may be."""

    code = "folder_full"

    def __init__(self, most_files: int, most_bytes: int) -> None:
        super().__init__(
            f"A folder has at most {most_files} files of {most_bytes // 1024**2} MB together. Delete some first.",
            limit_bytes=most_bytes,
        )


class FolderFilesQuotaError(TooLargeError):
    """The files of all folders of a user are as large together as may be."""

    code = "folder_files_quota"

    def __init__(self, most_bytes: int) -> None:
        super().__init__(
            f"The files of all your folders have at most {most_bytes // 1024**2} MB together. Delete some first.",
            limit_bytes=most_bytes,
        )
