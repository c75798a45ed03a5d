"""Edit files of a session's workspace, and record the changes in its stream."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.agent.events import FilesChanged
from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.ports import EventLog, SessionStream
from backend_api.files.domain import SavedText, TextFile
from backend_api.files.ports import FileEditor
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class EditFiles:
    """Raises what `SessionSandbox` and `FileEditor` do."""

    session_sandbox: SessionSandbox
    editor: FileEditor
    log: EventLog
    stream: SessionStream

    async def read(self, session_id: SessionId, user_id: UserId, path: str) -> TextFile:
        return await self.editor.read(await self.session_sandbox(session_id, user_id), path)

    async def save(
        self, session_id: SessionId, user_id: UserId, path: str, content: str, if_match: str | None
    ) -> SavedText:
        """Save a text. Raises `FileChangedError`, and then nothing is saved."""
        saved = await self.editor.save(await self.session_sandbox(session_id, user_id), path, content, if_match)
        await self._record(session_id, [saved.path])
        return saved

    async def move(self, session_id: SessionId, user_id: UserId, source: str, destination: str) -> str:
        moved = await self.editor.move(await self.session_sandbox(session_id, user_id), source, destination)
        await self._record(session_id, [source, moved], removed=[source])
        return moved

    async def make_folder(self, session_id: SessionId, user_id: UserId, path: str) -> str:
        made = await self.editor.make_folder(await self.session_sandbox(session_id, user_id), path)
        await self._record(session_id, [made])
        return made

    async def delete(self, session_id: SessionId, user_id: UserId, path: str) -> str:
        deleted = await self.editor.delete(await self.session_sandbox(session_id, user_id), path)
        await self._record(session_id, [deleted], removed=[deleted])
        return deleted

    async def _record(self, session_id: SessionId, paths: list[str], removed: list[str] | None = None) -> None:
        changed = FilesChanged(paths=paths, origin="user", removed=removed or [])
        await self.stream.append(session_id, await self.log.append(session_id, [changed]))
