"""Arguments of the tools of code navigation."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tool_api.navigation.places import MAX_NAME_CHARACTERS
from tool_api.tools.tool import Arguments

_PLACE = "File or folder to look in, relative to the workspace, or absolute inside it or /tmp."


def _path() -> Any:
    return Field(default=".", min_length=1, max_length=4096, description=_PLACE)


class CodeSymbols(Arguments):
    """List definitions."""

    path: str = _path()
    query: str = Field(
        default="",
        max_length=MAX_NAME_CHARACTERS,
        description="Only definitions whose name holds this, in any case. Without it all of the file or folder.",
    )


class CodeDefinition(Arguments):
    """Find where a name is defined."""

    symbol: str = Field(
        min_length=1,
        max_length=MAX_NAME_CHARACTERS,
        description="Exact name, such as parse, or with what it belongs to, such as Parser.parse.",
    )
    path: str = _path()


class CodeReferences(Arguments):
    """Find where a name is used."""

    symbol: str = Field(
        min_length=1,
        max_length=MAX_NAME_CHARACTERS,
        description="Exact name, such as parse. What it belongs to is not told apart.",
    )
    path: str = _path()
