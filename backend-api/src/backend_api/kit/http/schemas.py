"""Base classes of bodies: unknown fields are refused by name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer, field_validator
from pydantic_core import PydanticCustomError

from backend_api.kit.invisible_characters import BLANK_FAULT, NUL_FAULT, has_nul, is_written_blank
from backend_api.kit.stored_time import format_time


class RequestBody(BaseModel):
    """The body of a request. Values must have the documented type: no text is read as a number, and no number as a
    boolean. No text, at any depth, may contain the character NUL."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @field_validator("*", mode="after")
    @classmethod
    def _check_for_nul(cls, value: Any) -> Any:
        if has_nul(value):
            raise PydanticCustomError("nul", NUL_FAULT)
        return value


def _checked_words(text: str) -> str:
    if is_written_blank(text):
        raise PydanticCustomError("blank", BLANK_FAULT)
    return text


Words = Annotated[str, AfterValidator(_checked_words)]
"""A name or a text for people: it has visible characters, or is empty where that is allowed."""


class AnswerBody(BaseModel):
    """The body of a response, read from an entity's attributes."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


def _format(at: datetime) -> str:
    return format_time(at if at.tzinfo else at.replace(tzinfo=UTC))


Time = Annotated[datetime, PlainSerializer(_format, return_type=str)]
