"""Skills as an agent knows them: which there are for it, and which it has read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.agent.events import ToolCalled, ToolFinished

READ_TOOL = "read_skill"
LIST_TOOL = "list_skills"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillOffer:
    """A skill that an agent may read."""

    name: str
    description: str


def read_by(called: ToolCalled, finished: ToolFinished) -> str | None:
    """The skill that was read by this call, None for any other one: the log of calls says it, on any worker."""
    name = called.arguments.get("skill")
    return name if called.name == READ_TOOL and finished.success and isinstance(name, str) else None


def together(*read: Sequence[str]) -> list[str]:
    """Each once, in their order."""
    return [*dict.fromkeys(name for names in read for name in names)]
