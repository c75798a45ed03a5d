"""Lines between the tool API and a bridge. The bridge runs beside the agent's code, which may have taken its place:
what it says is bounded and typed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter

from contracts.tools import CodeTable
from service_kit.bounded_json import MalformedJsonError, read_json

MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_TEXT = 120_000
MAX_PICTURE = 2_700_000
_MOST_VALUES = 8_000

Text = Annotated[str, Field(max_length=MAX_TEXT)]


class Ready(BaseModel):
    """The kernel answers."""

    type: Literal["ready"]


class Written(BaseModel):
    """What the code wrote, or what a kernel says of its error."""

    type: Literal["text", "error"]
    text: Text


class Shown(BaseModel):
    """A result or something displayed. Of one `key` the last counts, where it is an update."""

    type: Literal["shown"]
    key: str = Field(default="", max_length=200)
    is_update: bool = False
    text: Text = ""
    picture: str | None = Field(default=None, max_length=MAX_PICTURE)
    media_type: str | None = Field(default=None, max_length=100)
    table: CodeTable | None = None


class Cleared(BaseModel):
    """What was shown so far is to be forgotten."""

    type: Literal["cleared"]


class Finished(BaseModel):
    """The execution is over."""

    type: Literal["finished"]
    success: bool


class Ended(BaseModel):
    """The kernel is gone."""

    type: Literal["ended"]
    reason: Text


Said = Written | Shown | Cleared
Line = Ready | Said | Finished | Ended
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="type")])


def parse_line(data: bytes) -> Line:
    """Raises `MalformedJsonError`."""
    return read_json(_LINE, data, most_values=_MOST_VALUES)


__all__ = ["Ended", "Finished", "Line", "MalformedJsonError", "Ready", "Said", "Shown", "Written", "parse_line"]
