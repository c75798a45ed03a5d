"""Files written into a session's workspace for its agent to read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from backend_api.kit.errors import DomainError
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.ports import Sandboxes, Upload, Workspace
from service_kit.amounts import duration_text

logger = logging.getLogger(__name__)

WITHIN_S = 60.0
_LIVING = ("ready", "paused")


@dataclass(frozen=True, slots=True)
class AgentFiles:
    """Writes files for agents. No sandbox is started for a file, and one that can't be written, or takes its sandbox
    more than `within_s` seconds, is skipped: the log has all of it."""

    sandboxes: Sandboxes
    workspace: Workspace
    within_s: float = WITHIN_S

    async def write(
        self, session_id: SessionId, user_id: UserId, folder: str, name: str, chunks: AsyncIterator[bytes]
    ) -> str | None:
        """Writes a file and returns its path in the workspace, or None if it was not written."""
        written = await self.write_all(session_id, user_id, folder, [Upload(name=name, chunks=chunks)])
        # The path goes into a prompt, so it is our own and not the sandbox's answer, which is untrusted.
        return f"{folder}/{name}" if written else None

    async def write_all(self, session_id: SessionId, user_id: UserId, folder: str, uploads: Sequence[Upload]) -> bool:
        """Writes all the files, and returns whether they are there; otherwise none is."""
        names = [upload.name for upload in uploads]
        try:
            async with asyncio.timeout(self.within_s):
                if (await self.sandboxes.status(session_id)).status not in _LIVING:
                    return False
                sandbox = await self.sandboxes.ensure(session_id, user_id)
                if sandbox.is_remote_host:
                    # On a user's own machine only they and their agent write files.
                    return False
                paths = await self.workspace.upload(sandbox, folder, _iterate(uploads), replaces=True)
        except (DomainError, TimeoutError) as error:
            reason = (
                error.detail if isinstance(error, DomainError) else f"not written within {duration_text(self.within_s)}"
            )
            fields = {"session_id": session_id, "folder": folder, "names": names[:5], "reason": reason}
            logger.warning("files for the agent could not be written", extra=fields)
            return False
        return {f"{folder}/{name}" for name in names} <= {*paths}


async def _iterate(uploads: Sequence[Upload]) -> AsyncIterator[Upload]:
    for upload in uploads:
        yield upload
