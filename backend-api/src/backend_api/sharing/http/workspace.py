"""The workspace of a session as an archive, read through the gateway's ports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.kit.http.ports import port
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.ports import Workspace
from backend_api.sharing.ports import WorkspaceArchive


@dataclass(frozen=True, slots=True)
class DownloadedWorkspace:
    """`WorkspaceArchive` of the session's sandbox, which is started if need be."""

    session_sandbox: SessionSandbox
    workspace: Workspace

    async def pieces(self, session_id: SessionId, user_id: UserId) -> AsyncIterator[bytes]:
        sandbox = await self.session_sandbox(session_id, user_id)
        async with self.workspace.download(sandbox, "") as download:
            async for chunk in download.chunks:
                yield chunk


# A coroutine, because the framework calls a class in a thread.
async def _archive(
    session_sandbox: Annotated[SessionSandbox, port("session_sandbox")],
    workspace: Annotated[Workspace, port("workspace")],
) -> WorkspaceArchive:
    return DownloadedWorkspace(session_sandbox, workspace)


OwnerWorkspace = Annotated[WorkspaceArchive, Depends(_archive)]
