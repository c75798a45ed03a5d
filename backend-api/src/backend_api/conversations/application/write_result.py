"""The whole of a long result as a file in the session's workspace, for an agent that got only a part of it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from backend_api.agent.events import ToolCalled
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.kit.ids import SessionId, UserId

FOLDER = ".results"
_ONE_OF_THESE = re.compile(rf"(?:[\w./-]*/)?{re.escape(FOLDER)}/[\w-]+\.txt")
"""The path of such a file alone: the output of a command about one is not stored in a file yet."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """Writes a result to a file, see `AgentFiles`. A result that was read from such a file is there already."""

    files: AgentFiles

    async def __call__(self, session_id: SessionId, user_id: UserId, called: ToolCalled, output: str) -> str | None:
        """The file's path in the workspace, or None if it was not written."""
        if (known := _read_from(called.arguments)) is not None:
            return known
        return await self.files.write(session_id, user_id, FOLDER, f"{called.call_id}.txt", _chunks(output))


async def _chunks(output: str) -> AsyncIterator[bytes]:
    yield output.encode("utf-8", "replace")


def _read_from(arguments: Mapping[str, Any]) -> str | None:
    paths = (value for value in arguments.values() if isinstance(value, str))
    return next((path for path in paths if len(path) <= 4096 and _ONE_OF_THESE.fullmatch(path)), None)
