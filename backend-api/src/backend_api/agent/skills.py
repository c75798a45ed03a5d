"""The skills that an agent has read."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.events import ToolCalled, ToolFinished

READ_TOOL = "read_skill"
LIST_TOOL = "list_skills"


def read_by(called: ToolCalled, finished: ToolFinished) -> str | None:
    """The skill read by this call, None for any other call: it is found in the log, on any worker."""
    name = called.arguments.get("skill")
    return name if called.name == READ_TOOL and finished.success and isinstance(name, str) else None


def together(*read: Sequence[str]) -> list[str]:
    """The names of all lists, each once, in their order."""
    return [*dict.fromkeys(name for names in read for name in names)]
