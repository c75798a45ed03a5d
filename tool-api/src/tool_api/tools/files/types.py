"""Arguments of the file tools."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tool_api.tools.tool import Arguments

_PATH = "Path in the workspace, or an absolute one."
MAX_TEXT_CHARACTERS = 2_000_000
MAX_LINE = 1_000_000_000
MAX_PAGE = 1_000_000


def _path() -> Any:
    return Field(min_length=1, max_length=4096, description=_PATH)


def _folder() -> Any:
    return Field(default=".", min_length=1, max_length=4096, description=_PATH)


class FileRead(Arguments):
    """Read a file as text, or some of its lines or pages."""

    path: str = _path()
    start_line: int = Field(default=1, ge=1, le=MAX_LINE, description="First line, counted from 1.")
    end_line: int | None = Field(default=None, ge=1, le=MAX_LINE, description="Last line.")
    start_page: int = Field(
        default=1,
        ge=1,
        le=MAX_PAGE,
        description="First page, sheet or slide, counted from 1. Lines are those of the page.",
    )
    end_page: int | None = Field(default=None, ge=1, le=MAX_PAGE, description="Last one.")
    as_text: bool = Field(default=False, description="An HTML file or notebook as Markdown, not as its source.")


class FileWrite(Arguments):
    """Write a file anew."""

    path: str = _path()
    content: str = Field(max_length=MAX_TEXT_CHARACTERS, description="The whole new content.")


class FileAppend(Arguments):
    """Add to the end of a file."""

    path: str = _path()
    content: str = Field(max_length=MAX_TEXT_CHARACTERS, description="Text to add.")


class FileEdit(Arguments):
    """Replace a piece of a file."""

    path: str = _path()
    old: str = Field(min_length=1, max_length=MAX_TEXT_CHARACTERS, description="Exact text to replace.")
    new: str = Field(max_length=MAX_TEXT_CHARACTERS, description="What to put there.")
    replace_all: bool = Field(default=False, description="Replace every occurrence.")


class FileList(Arguments):
    """List a folder."""

    path: str = _folder()


class FileFind(Arguments):
    """Find files by a glob pattern."""

    pattern: str = Field(
        min_length=1, max_length=1000, description="Glob such as *.py (any depth) or src/**/test_*.py."
    )
    path: str = _folder()


class FileSearch(Arguments):
    """Search file contents by a regular expression."""

    pattern: str = Field(min_length=1, max_length=1000, description="Regular expression, matched line by line.")
    path: str = _folder()
    ignore_case: bool = Field(default=False, description="Ignore case.")


class FileMove(Arguments):
    """Move or rename a file or folder."""

    source: str = _path()
    destination: str = Field(min_length=1, max_length=4096, description=_PATH + " A folder takes the file into it.")
    overwrite: bool = Field(default=False, description="Replace a file that is there.")


class FileDelete(Arguments):
    """Delete a file or folder."""

    path: str = _path()
    recursive: bool = Field(default=False, description="Delete a folder with all it holds.")
