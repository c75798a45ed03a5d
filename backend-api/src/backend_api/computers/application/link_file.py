"""Make a link to one file that opens without logging in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend_api.computers.domain import FileLink, FileLinks
from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.ports import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedLink:
    """The secret part of the address."""

    token: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LinkFile:
    """A link is only made to an existing file, or to a folder if one is requested. Raises `FileMissingError`,
    `PathForbiddenError` and what `SessionSandbox` raises."""

    session_sandbox: SessionSandbox
    workspace: Workspace
    links: FileLinks

    async def __call__(
        self,
        session_id: SessionId,
        user_id: UserId,
        path: str,
        expires_s: int,
        *,
        is_folder: bool = False,
        is_running: bool = False,
    ) -> SignedLink:
        sandbox = await self.session_sandbox(session_id, user_id)
        await (self.workspace.list(sandbox, path) if is_folder else self.workspace.preview(sandbox, path))
        link = FileLink(
            user_id=user_id, session_id=session_id, path=path, is_folder=is_folder, is_running=is_folder and is_running
        )
        token = self.links.sign(link, expires_s=expires_s)
        return SignedLink(token=token, expires_at=datetime.now(UTC) + timedelta(seconds=expires_s))
