"""Arguments of the tools for remote hosts, by their definitions in the manifest."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MAX_TEXT = 2_000_000
MAX_NUMBER = 1_000_000_000


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain NUL characters")
    return text


PathText = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_without_nul)]
ShellName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,32}$")]


class Arguments(BaseModel):
    """Arguments; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OfShell(Arguments):
    shell: ShellName = "main"


class ShellExec(OfShell):
    command: Annotated[str, Field(min_length=1, max_length=100_000), AfterValidator(_without_nul)]
    timeout_s: int | None = Field(default=None, ge=1, le=600)
    keep_running: bool = False


class ShellWait(OfShell):
    timeout_s: int | None = Field(default=None, ge=1, le=600)


class ShellWrite(OfShell):
    text: Annotated[str, Field(min_length=1, max_length=4000), AfterValidator(_without_nul)]
    press_enter: bool = True


class FileRead(Arguments):
    path: PathText
    start_line: int = Field(default=1, ge=1, le=MAX_NUMBER)
    end_line: int | None = Field(default=None, ge=1, le=MAX_NUMBER)
    start_page: int = 1
    end_page: int | None = None
    as_text: bool = False


class FileWrite(Arguments):
    path: PathText
    content: str = Field(max_length=MAX_TEXT)


class FileEdit(Arguments):
    path: PathText
    old: str = Field(min_length=1, max_length=MAX_TEXT)
    new: str = Field(max_length=MAX_TEXT)
    replace_all: bool = False


class FileList(Arguments):
    path: PathText = "."


class FileFind(FileList):
    pattern: Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_without_nul)]


class FileSearch(FileFind):
    ignore_case: bool = False


class FileMove(Arguments):
    source: PathText
    destination: PathText
    overwrite: bool = False


class FileDelete(Arguments):
    path: PathText
    recursive: bool = False
