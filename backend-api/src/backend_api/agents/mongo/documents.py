"""The stored fields of users' kinds of sub-agents, and the indexes."""

from __future__ import annotations

from typing import Any

from beanie import Document
from pydantic import Field


class SubagentKindsDocument(Document):
    """The kinds of sub-agents that a user wrote: name, description, prompt, tools, model and maxima of each."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- the user
    kinds: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])

    class Settings:
        name = "subagent_kinds"


DOCUMENTS: list[type[Document]] = [SubagentKindsDocument]
