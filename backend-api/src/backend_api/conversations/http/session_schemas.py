"""Bodies of a session."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from backend_api.conversations.domain.entity import Session
from backend_api.conversations.http.option_schemas import OptionsBody
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time, Words

_PRESET = (
    "One of GET /api/presets: what the agent is told, which tools it has, its model and its options, as far as the "
    "session does not choose them itself. Null: the server's default. Acts from the next time a run begins or goes on "
    "after a wait."
)


class CreateSessionBody(RequestBody):
    title: Words | None = Field(default=None, max_length=1000)
    model: str | None = Field(default=None, max_length=200)
    preset: str | None = Field(default=None, max_length=200, description=_PRESET)
    options: OptionsBody = OptionsBody()
    target_id: str | None = Field(
        default=None,
        max_length=100,
        description="One of GET /api/targets: the computer it works on, for as long as it is there; null: the usual "
        "one. On a remote host enable_approval is true unless it is chosen here.",
    )


class UpdateSessionBody(RequestBody):
    title: Words | None = Field(default=None, max_length=1000)
    model: str | None = Field(default=None, max_length=200)
    preset: str | None = Field(default=None, max_length=200, description=_PRESET)
    options: OptionsBody | None = None
    pinned: bool | None = None
    archived: bool | None = None

    def changes(self) -> dict[str, Any]:
        """The fields that were sent; null resets the model, the preset or an option, and changes nothing else."""
        sent = {name: getattr(self, name) for name in self.model_fields_set}
        if isinstance(options := sent.get("options"), OptionsBody):
            sent["options"] = options.changes()
        return {name: value for name, value in sent.items() if value is not None or name in ("model", "preset")}


class SessionBody(AnswerBody):
    id: str
    title: str
    status: str
    model: str | None
    preset: str | None
    options: dict[str, Any]
    pinned: bool
    archived: bool
    folder_id: str | None
    target_id: str | None
    created_at: Time
    updated_at: Time
    active_at: Time
    last_seq: int
    read_seq: int
    unread: int
    failed: bool = Field(
        description="Whether the last run that ended failed or was interrupted, and nobody has read that yet."
    )
    sandbox: str | None

    @classmethod
    def of(cls, session: Session) -> SessionBody:
        """The body for a session."""
        return cls.model_validate(session)


class ReadBody(RequestBody):
    seq: int = Field(ge=0, le=2**53)


class SessionPageBody(AnswerBody):
    items: list[SessionBody]
    next_cursor: str | None
