"""Checks that the attachments of a message exist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.domain.entity import Session
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.domain.errors import FileMissingError, PathForbiddenError
from backend_api.sandboxes.ports import Workspace


@dataclass(frozen=True, slots=True)
class CheckAttachments:
    """Raises `InvalidError` that names the first path that is not a file of the session's workspace, or if the agent
    has no sandbox to read files with, and what `SessionSandbox` raises."""

    session_sandbox: SessionSandbox
    workspace: Workspace
    has_sandbox: Callable[[Session], bool]
    """Whether the session's agent works in a sandbox."""

    async def __call__(self, session_id: SessionId, user_id: UserId, paths: Sequence[str]) -> None:
        if not paths:
            return
        if not self.has_sandbox(await self.session_sandbox.sessions.get(session_id, user_id)):
            detail = "The preset of this session has no computer to read files with. Choose another preset first."
            raise InvalidError(detail, field="body.attachments")
        sandbox = await self.session_sandbox(session_id, user_id)
        for index, path in enumerate(paths):
            try:
                await self.workspace.preview(sandbox, path)
            except (FileMissingError, PathForbiddenError, InvalidError) as error:
                detail = f"{path!r} is not a file of this session. Upload it first. {error.detail}"
                raise InvalidError(detail, field=f"body.attachments.{index}") from error
