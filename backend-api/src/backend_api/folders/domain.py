"""A folder of a user's conversations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NewType

from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId
from backend_api.kit.unseen import is_blank

FolderId = NewType("FolderId", str)
MAX_NAME_CHARACTERS = 80
MAX_INSTRUCTIONS_CHARACTERS = 8_000
MOST_FOLDERS = 100


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
