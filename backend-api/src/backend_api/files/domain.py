"""Files for editing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from backend_api.kit.errors import PreconditionError

NotEditable = Literal["binary", "too_large", "encoding"]


class FileChangedError(PreconditionError):
    """The file has changed since the user read it. Nothing was saved."""

    code = "file_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A whole text file; without content it can't be edited, and `reason` is why."""

    path: str
    name: str
    size: int
    content: str | None
    etag: str | None
    encoding: str | None
    language: str | None
    reason: NotEditable | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedText:
    path: str
    size: int
    etag: str
