"""Bodies of the file routes."""

from __future__ import annotations

from pydantic import Field

from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time


class FileEntryBody(AnswerBody):
    path: str
    name: str
    size: int
    modified_at: Time
    is_dir: bool


class FilePreviewBody(AnswerBody):
    path: str
    name: str
    size: int
    content: str | None
    binary: bool
    language: str | None
    truncated: bool
    encoding: str | None = Field(description="The encoding of the file on its disk, such as UTF-8 or GB18030.")


class UploadedBody(AnswerBody):
    uploaded: list[str]


class LinkBody(RequestBody):
    path: str = Field(min_length=1, max_length=4096)
    expires_s: int = Field(default=3600, ge=1, le=7 * 24 * 3600)
    folder: bool = Field(default=False, description="Whether the path is a folder, to be fetched as zip.")
    running: bool = Field(
        default=False,
        description="Whether the link to a folder is for a page in it that runs: it opens single files that are not "
        "hidden, and never the whole folder.",
    )


class SignedLinkBody(AnswerBody):
    url: str
    expires_at: Time
