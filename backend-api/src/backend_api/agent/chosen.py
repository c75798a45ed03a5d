"""What a session chose by now, as its recorded stream tells it: a run goes on for hours, and what protects acts at
once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend_api.agent.options import AgentMode


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChoices:
    """The session's mode, and its options as they are stored. None: nothing was said of it, and what the run began
    with holds."""

    mode: AgentMode | None = None
    options: Mapping[str, Any] | None = None
    driver: str | None = None
    """Who controls the computer by now; no call starts meanwhile."""


NOTHING_CHOSEN = SessionChoices()
