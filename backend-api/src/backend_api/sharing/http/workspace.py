"""The workspace of a session as an archive, read through the gateway's ports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from backend_api.conversations.application.own_sandbox import OwnSandbox
from backend_api.kit.http.ports import port
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.ports import Workspace
from backend_api.sharing.ports import WorkspaceArchive


@dataclass(frozen=True, slots=True)
class DownloadedWorkspace:
    """`WorkspaceArchive` of the session's sandbox, which is started if need be."""

    own_sandbox: OwnSandbox
    workspace: Workspace

    async def pieces(self, session_id: SessionId, user_id: UserId) -> AsyncIterator[bytes]:
        sandbox = await self.own_sandbox(session_id, user_id)
        async with self.workspace.download(sandbox, "") as download:
            async for chunk in download.chunks:
                yield chunk


# A coroutine, because the framework calls a class in a thread.
async def _archive(
    own_sandbox: Annotated[OwnSandbox, port("own_sandbox")], workspace: Annotated[Workspace, port("workspace")]
) -> WorkspaceArchive:
    return DownloadedWorkspace(own_sandbox, workspace)


OwnWorkspace = Annotated[WorkspaceArchive, Depends(_archive)]
