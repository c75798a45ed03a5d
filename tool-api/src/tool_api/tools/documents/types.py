"""Arguments of the tools that make documents."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from tool_api.tools.tool import Arguments

MAX_TEXT_CHARACTERS = 2_000_000


def _name(kind: str) -> Any:
    return Field(
        min_length=1,
        max_length=4096,
        description=f"Path of the {kind} file in the workspace; a file that is there is replaced.",
    )


class SaveToMarkdown(Arguments):
    """Keep a text as a Markdown file."""

    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARACTERS, description="The whole text, in Markdown.")
    file_name: str = _name("Markdown")


class SaveToPdf(Arguments):
    """Print Markdown as a PDF."""

    text: str = Field(default="", max_length=MAX_TEXT_CHARACTERS, description="The whole text, in Markdown.")
    file_name: str = _name("PDF")
    source: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="In place of the text: path of a Markdown file of the workspace that holds it.",
    )
    landscape: bool = Field(default=False, description="Lay pages on their side, for wide tables.")

    @model_validator(mode="after")
    def _one_text(self) -> Self:
        if bool(self.text) == bool(self.source):
            raise ValueError("give either text or source")
        return self
