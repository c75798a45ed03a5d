"""Put the user's files into the workspace."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.application.files.own_computer import OwnComputer
from backend_api.application.identity.limits import Limits
from backend_api.domain.agent.events import FilesChanged
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.conversation.ports import EventLog, LiveTail
from backend_api.domain.identity.entity import UserId
from backend_api.domain.identity.ports import RateLimiter
from backend_api.domain.sandbox.ports import Upload, Workspace


@dataclass(frozen=True, slots=True)
class UploadFiles:
    """Raises `UploadTooLargeError`, `PathForbiddenError` and what `OwnComputer` raises."""

    own_computer: OwnComputer
    workspace: Workspace
    log: EventLog
    tail: LiveTail
    limiter: RateLimiter
    limits: Limits

    async def admit(self, user_id: UserId) -> None:
        """Before the body is read. Raises `LimitError`."""
        await self.limiter.hit(f"uploads:{user_id}", limit=self.limits.uploads_per_minute, window_s=60)

    async def __call__(self, session_id: SessionId, user_id: UserId, subdir: str, files: list[Upload]) -> list[str]:
        computer = await self.own_computer(session_id, user_id)
        paths = await self.workspace.upload(computer, subdir, files)
        events = await self.log.append(session_id, [FilesChanged(paths=paths, origin="user")])
        await self.tail.publish(session_id, events)
        return paths
