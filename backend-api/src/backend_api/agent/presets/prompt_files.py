"""Markdown files with a TOML head between two lines of `+++`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from backend_api.kit.invisible_characters import UNTYPEABLE
from service_kit.amounts import size_text

MAX_BYTES = 64 * 1024
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_FENCE = re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE)
_FORM = "it begins with what it is in TOML, between two lines of +++, and goes on with what the agent is told"

Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")
]
ToolRules = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=200)]


class PromptFileError(ValueError):
    """A file that can't be used; the message names it and the reason."""


class Head(BaseModel):
    """The TOML head: an unknown field is refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


H = TypeVar("H", bound=Head)


def parse_prompt_file(file_id: str, content: bytes, where: str, head: type[H]) -> tuple[H, str]:
    """The head and the prompt of a file. `where` names the file in error messages. Raises `PromptFileError`."""
    if not _ID.fullmatch(file_id):
        raise PromptFileError(f"{where}: its name has other characters than a-z, 0-9, - and _, or more than 64")
    if len(content) > MAX_BYTES:
        raise PromptFileError(f"{where}: it is larger than {size_text(MAX_BYTES)}")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise PromptFileError(f"{where}: it is not UTF-8 text: {error.reason} at byte {error.start}") from error
    if unseen := UNTYPEABLE.search(text):
        raise PromptFileError(f"{where}: it has the character U+{ord(unseen.group()):04X}, which nobody sees")
    before, *rest = _FENCE.split(text, maxsplit=2)
    if before.strip() or len(rest) != 2:
        raise PromptFileError(f"{where}: {_FORM}")
    return _head(rest[0], where, head), rest[1].strip()


def _head(text: str, where: str, head: type[H]) -> H:
    try:
        return head.model_validate(tomllib.loads(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise PromptFileError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:  # ValueError also for a number with thousands of digits
        raise PromptFileError(f"{where}: what stands between the lines of +++ is not valid TOML: {error}") from error


def prompt_files(folder: Path, most: int, what: str) -> Sequence[Path]:
    """The Markdown files of a folder, by name, at most `most`; `what` names them in the error. Raises
    `PromptFileError`."""
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == ".md" and not path.name.startswith("."))
    except OSError as error:
        raise PromptFileError(f"{folder} can't be read: {error.strerror}") from error
    if len(found) > most:
        raise PromptFileError(f"{folder} has more than {most} {what}")
    return found


def prompt_file_content(path: Path) -> bytes:
    """The content, at most a byte more than a file may have. Raises `PromptFileError`."""
    if not path.is_file():
        raise PromptFileError(f"{path}: it is no file")
    try:
        with path.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise PromptFileError(f"{path}: it can't be read: {error.strerror}") from error
