"""Figures from the workspaces of a project's conversations."""

from __future__ import annotations

from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.kit.errors import NotFoundError, UnavailableError
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import PathForbiddenError
from backend_api.sandboxes.ports import Workspace
from backend_api.writing.domain import Project
from backend_api.writing.figures import ReadFigure

MAX_WORKSPACES = 5
"""The most workspaces searched, of the conversations that wrote last: each may have to be started."""
_ELSEWHERE = (NotFoundError, PathForbiddenError, UnavailableError)


def figures_of(project: Project, session_sandbox: SessionSandbox, workspace: Workspace) -> ReadFigure:
    """A reader of figures that searches the last conversation first. An unavailable workspace is tried once."""
    left = list(reversed(project.sessions[-MAX_WORKSPACES:]))
    known = dict[str, Sandbox]()

    async def sandbox_of(session_id: str) -> Sandbox | None:
        if session_id not in known:
            try:
                known[session_id] = await session_sandbox(SessionId(session_id), project.user_id)
            except _ELSEWHERE:
                left.remove(session_id)
                return None
        return known[session_id]

    async def read(path: str, most: int) -> bytes | None:
        for session_id in tuple(left):
            sandbox = await sandbox_of(session_id)
            content = None if sandbox is None else await _file(workspace, sandbox, path, most)
            if content is not None:
                return content
        return None

    return read


async def _file(workspace: Workspace, sandbox: Sandbox, path: str, most: int) -> bytes | None:
    try:
        async with workspace.download(sandbox, path) as file:
            if file.is_folder or (file.size or 0) > most:
                return None
            content = bytearray()
            async for chunk in file.chunks:
                content += chunk
                if len(content) > most:
                    return None
    except _ELSEWHERE:
        return None
    return bytes(content)
