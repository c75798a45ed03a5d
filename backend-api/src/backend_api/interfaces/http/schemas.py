"""What bodies share: unknown fields are refused by name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer

from backend_api.application.conversation.event_json import format_time


class RequestBody(BaseModel):
    """A body of a request. Values are of the type that is documented: no text is read as a number, and no number as
    yes or no."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AnswerBody(BaseModel):
    """A body of an answer, read from an entity's attributes."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


def _format(at: datetime) -> str:
    return format_time(at if at.tzinfo else at.replace(tzinfo=UTC))


Time = Annotated[datetime, PlainSerializer(_format, return_type=str)]
