"""A folder of a user's conversations."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NewType

from backend_api.folders.errors import FolderFilesQuotaError, FolderFullError
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.kit.invisible_characters import is_blank

FolderId = NewType("FolderId", str)
MAX_NAME_CHARACTERS = 80
MAX_INSTRUCTIONS_CHARACTERS = 8_000
MOST_FOLDERS = 100
MOST_FILES = 50
"""Of a folder."""
MAX_FILE_BYTES = 20 * 1024**2
MOST_BYTES = 50 * 1024**2
"""Of all files of a folder together."""
MAX_FILE_NAME_BYTES = 200
PLACE = "folder"
"""Where the files of its folder are in a conversation's workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder. `instructions` are the user's own words for agents in each of its conversations; empty for none."""

    id: FolderId
    user_id: UserId
    name: str
    instructions: str = ""
    created_at: datetime


def checked_name(name: str) -> str:
    """The name without spaces around it. Raises `InvalidError`."""
    plain = name.strip()
    if is_blank(plain) or len(plain) > MAX_NAME_CHARACTERS:
        raise InvalidError(f"A folder's name has from 1 to {MAX_NAME_CHARACTERS} characters.", field="body.name")
    return plain


def checked_instructions(text: str) -> str:
    """The instructions without spaces around them. Raises `InvalidError`."""
    plain = text.strip()
    if len(plain) > MAX_INSTRUCTIONS_CHARACTERS:
        raise InvalidError(
            f"A folder's instructions have at most {MAX_INSTRUCTIONS_CHARACTERS:,} characters.",
            field="body.instructions",
        )
    return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFile:
    """A file that stands in the workspace of each conversation of a folder. `version` is another one for each content
    that was uploaded under its name, and `digest` that of the content."""

    id: str
    folder_id: FolderId
    name: str
    size: int
    digest: str
    version: str
    added_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBounds:
    """The most files of a folder, bytes of them, and bytes of the files in all folders of a user; 0: no limit."""

    files: int = MOST_FILES
    folder_bytes: int = MOST_BYTES
    user_bytes: int = 0

    def room(self, others: Sequence[FolderFile], elsewhere: int, *, taken: int = 1) -> int:
        """How many bytes may be added to a folder with these others, where there are `elsewhere` in other folders.

        Raises `FolderFullError` and `FolderFilesQuotaError` if they are fewer than `taken`.
        """
        there = sum(one.size for one in others)
        room = self.folder_bytes - there
        if len(others) >= self.files or room < taken:
            raise FolderFullError(self.files, self.folder_bytes)
        if not self.user_bytes:
            return room
        left = self.user_bytes - there - elsewhere
        if left < taken:
            raise FolderFilesQuotaError(self.user_bytes)
        return min(room, left)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOfSession:
    """The folder that a session is in, with the names of its files."""

    folder: Folder
    file_names: tuple[str, ...] = ()


def checked_file_name(name: str) -> str:
    """A name in one folder, as the same letters everywhere. Raises `InvalidError`."""
    plain = unicodedata.normalize("NFC", name).strip()
    is_path = "/" in plain or "\\" in plain or plain in (".", "..")
    if (
        is_path
        or is_blank(plain)
        or not plain.isprintable()
        or len(plain.encode("utf-8", "replace")) > MAX_FILE_NAME_BYTES
    ):
        raise InvalidError(
            f"A file's name has no slash, is neither “.” nor “..”, and has from 1 to {MAX_FILE_NAME_BYTES} bytes.",
            field="body.files",
        )
    return plain
