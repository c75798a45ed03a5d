"""Text files of a sandbox that a person edits, and changes of its folders.

| call | body | answer |
|---|---|---|
| GET /files/text?path= | | `TextFile` |
| PUT /files/text | `SaveText` | `SavedText`; 412 if the file does not match `if_match` |
| POST /files/move | `MovePath` | `ChangedPath`; 409 if the destination exists |
| POST /files/folder | `MakeFolder` | 201 `ChangedPath`; 409 if the path exists |
| DELETE /files?path= | | `ChangedPath`; a folder is deleted with all its contents |
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from contracts.tools import Count, Name, Path

MAX_TEXT_BYTES = 1024 * 1024
"""The largest file that can be edited."""
Etag = Annotated[str, Field(max_length=64)]
GivenPath = Annotated[str, Field(min_length=1, max_length=4096)]
GivenText = Annotated[str, Field(max_length=MAX_TEXT_BYTES)]


class TextFile(BaseModel):
    """A whole file as text. Without content it can't be edited, for a `reason`: it is no text, too large, or its text
    can't be written back unchanged."""

    path: Path
    name: Name
    size: Count
    content: str | None = Field(default=None, max_length=MAX_TEXT_BYTES)
    etag: Etag | None = None
    encoding: Name | None = None
    language: Name | None = None
    reason: Literal["binary", "too_large", "encoding"] | None = None


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SaveText(_Given):
    """Replace a file's text, which must match `if_match`; null for a file that does not exist yet."""

    path: GivenPath
    content: GivenText
    if_match: Etag | None


class SavedText(BaseModel):
    path: Path
    size: Count
    etag: Etag


class MovePath(_Given):
    source: GivenPath
    destination: GivenPath


class MakeFolder(_Given):
    path: GivenPath


class ChangedPath(BaseModel):
    path: Path
