"""Files as they are edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from backend_api.kit.errors import PreconditionError

NotEditable = Literal["binary", "too_large", "encoding"]


class FileChangedError(PreconditionError):
    """The file is not as whoever saves it has read it. Nothing was saved."""

    code = "file_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A whole file; without content it can't be edited, for the reason."""

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
