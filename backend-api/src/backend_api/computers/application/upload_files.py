"""Upload the user's files into the workspace."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from backend_api.agent.events import FilesChanged
from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.ports import EventLog, SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.errors import LimitError
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.ports import Upload, Workspace

UPLOADS_PER_USER = 8
UPLOADS_IN_ALL = 64
UPLOADS_PER_ADDRESS = UPLOADS_IN_ALL // 2
"""The most uploads at once from one address, however many accounts use it."""
RETRY_AFTER_S = 5


@dataclass(frozen=True, slots=True)
class UploadFiles:
    """Raises `UploadTooLargeError`, `PathForbiddenError` and what `SessionSandbox` raises."""

    session_sandbox: SessionSandbox
    workspace: Workspace
    log: EventLog
    stream: SessionStream
    limiter: RateLimiter
    limits: Limits
    _at_work: Counter[tuple[UserId, str]] = field(default_factory=Counter[tuple[UserId, str]], init=False)

    @asynccontextmanager
    async def admitted(self, user_id: UserId, address: str) -> AsyncGenerator[None]:
        """Admit an upload, whose body may be read inside. `address` stands for a whole host. Raises `LimitError`."""
        await self.limiter.hit(f"uploads:{user_id}", limit=self.limits.uploads_per_minute, window_s=60)
        if not self._has_place(user_id, address):
            raise LimitError("Too many uploads at once. Wait for one to end.", retry_after_s=RETRY_AFTER_S)
        key = user_id, address
        self._at_work[key] += 1
        try:
            yield
        finally:
            self._at_work[key] -= 1
            if not self._at_work[key]:
                del self._at_work[key]

    def _has_place(self, user_id: UserId, address: str) -> bool:
        of_user = sum(count for (who, _), count in self._at_work.items() if who == user_id)
        of_address = sum(count for (_, where), count in self._at_work.items() if where == address)
        return (
            of_user < UPLOADS_PER_USER and of_address < UPLOADS_PER_ADDRESS and self._at_work.total() < UPLOADS_IN_ALL
        )

    async def __call__(
        self,
        session_id: SessionId,
        user_id: UserId,
        subdir: str,
        files: AsyncIterable[Upload],
        *,
        replaces: bool = False,
    ) -> list[str]:
        """The paths of the uploaded files: if a name is taken, the file gets a number, unless it is to replace the
        other one."""
        sandbox = await self.session_sandbox(session_id, user_id)
        paths = await self.workspace.upload(sandbox, subdir, files, replaces=replaces)
        events = await self.log.append(session_id, [FilesChanged(paths=paths, origin="user")])
        await self.stream.append(session_id, events)
        return paths
