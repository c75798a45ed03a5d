"""The draft of a conversation: what its user is writing, with the files that are attached to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from backend_api.conversations.domain.entity import MAX_MESSAGE_CHARACTERS
from backend_api.kit.errors import ConflictError

MAX_TEXT_CHARACTERS = MAX_MESSAGE_CHARACTERS
"""As many as a message may have."""
MAX_FILES = 50
"""As many as a message may have."""
MAX_PATH_CHARACTERS = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What is written: the text, and the paths of files in the workspace."""

    text: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft as it is kept. `version` grows with each change, also with the one that clears it; it is 0 and there is
    no time if nothing was ever written."""

    written: Written
    version: int
    updated_at: datetime | None


NOTHING = Draft(written=Written(), version=0, updated_at=None)


class DraftChangedError(ConflictError):
    """The draft was changed since it was read, and is as `draft` says now; nothing was changed."""

    code = "draft_changed"

    def __init__(self, draft: Draft) -> None:
        super().__init__("The draft was changed elsewhere since it was read. Read it, then save over that version.")
        self.draft = draft
