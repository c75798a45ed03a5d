"""Every stored field of settings of users, and the indexes."""

from __future__ import annotations

from typing import Any

from beanie import Document
from pydantic import Field


class UserSettingsDocument(Document):
    """The settings of a user. `is_told`: all sessions are marked as having settings; `model` is their default model as
    of `model_version`."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the user
    version: int
    values: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    """Pairs of name and value."""
    secrets: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    """Name, id of the key it is sealed under, and sealed text."""
    is_told: bool = False
    model: str | None = None
    model_version: int = 0
    skill_changes: int = 0

    class Settings:
        name = "user_settings"


DOCUMENTS: list[type[Document]] = [UserSettingsDocument]
