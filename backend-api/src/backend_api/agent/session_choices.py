"""The session's latest choices, read from its log: a run may take hours, and a choice that protects holds at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend_api.agent.options import AgentMode


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChoices:
    """The session's mode, and its options as they are stored. None means that nothing was changed, and that the values
    of the run's start hold."""

    mode: AgentMode | None = None
    options: Mapping[str, Any] | None = None
    driver: str | None = None
    """The person who controls the computer by now; no call starts meanwhile."""


NO_CHOICES = SessionChoices()
