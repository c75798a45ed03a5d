"""Arguments of the tools of code navigation."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tool_api.navigation.places import MAX_NAME_CHARACTERS
from tool_api.tools.tool import Arguments

_PLACE = "File or folder in the workspace, or an absolute path."


def _path() -> Any:
    return Field(default=".", min_length=1, max_length=4096, description=_PLACE)


class CodeSymbols(Arguments):
    """List definitions."""

    path: str = _path()
    query: str = Field(
        default="",
        max_length=MAX_NAME_CHARACTERS,
        description="Only names that hold this.",
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
        description="Exact name, such as parse.",
    )
    path: str = _path()
