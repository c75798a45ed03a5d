"""The files of its folder in a session's workspace: there before whoever asked for the sandbox has it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from backend_api.agent.events import FilesChanged
from backend_api.conversations.ports import EventLog, SessionStream
from backend_api.folders.domain import MAX_FILE_BYTES, PLACE, FolderFile
from backend_api.folders.ports import FolderFiles, Folders, Placements
from backend_api.kit.errors import DomainError
from backend_api.kit.ids import SessionId, UserId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import FileMissingError
from backend_api.sandboxes.ports import Upload, Workspace
from service_kit.amounts import duration_text

logger = logging.getLogger(__name__)

WITHIN_S = 60.0
"""For all of them; what is left is put there the next time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceFolderFiles:
    """A file is put there once, in each of its versions: what the agent deleted stays away, and what it changed is not
    written over: a new version stands beside it then, with a number. Nothing that fails keeps anybody from the sandbox.
    A remote host is a machine of the user's: nothing is put there that neither they nor their agent wrote."""

    folders: Folders
    files: FolderFiles
    placements: Placements
    workspace: Workspace
    log: EventLog
    stream: SessionStream
    within_s: float = WITHIN_S

    async def __call__(self, sandbox: Sandbox, user_id: str) -> None:
        if sandbox.is_remote_host:
            return
        session_id = SessionId(sandbox.session_id)
        with self._log_refusal(session_id):
            async with asyncio.timeout(self.within_s):
                folder = await self.folders.of_session(session_id, UserId(user_id))
                if folder is None or not (files := await self.files.of_folder(folder.id)):
                    return
                for file in await self.placements.missing(session_id, files):
                    with self._log_refusal(session_id):
                        await self._place(sandbox, session_id, file)

    @contextmanager
    def _log_refusal(self, session_id: SessionId) -> Generator[None]:
        try:
            yield
        except (DomainError, TimeoutError) as error:
            reason = (
                error.detail if isinstance(error, DomainError) else f"not done within {duration_text(self.within_s)}"
            )
            fields = {"session_id": session_id, "reason": reason}
            logger.warning("the files of a folder could not be put into a workspace", extra=fields)

    async def _place(self, sandbox: Sandbox, session_id: SessionId, file: FolderFile) -> None:
        if not await self.placements.claim(session_id, file):
            return
        path = f"{PLACE}/{file.name}"
        there = await self._digest(sandbox, path)
        if there != file.digest:
            is_ours = there is not None and there in await self.placements.digests(session_id, path)
            (path,) = await self.workspace.upload(sandbox, PLACE, self._upload(file), replaces=is_ours)
            events = await self.log.append(session_id, [FilesChanged(paths=[path], origin="user")])
            await self.stream.append(session_id, events)
        await self.placements.done(session_id, file, path)

    async def _digest(self, sandbox: Sandbox, path: str) -> str | None:
        """Of what has this name there, empty for what is none of ours; None where nothing has. A sandbox may send
        without end: of more than a file of a folder may have nothing is read."""
        digest, left = hashlib.sha256(), MAX_FILE_BYTES
        try:
            async with self.workspace.download(sandbox, path) as download:
                if download.is_folder:
                    return ""
                async for chunk in download.chunks:
                    left -= len(chunk)
                    if left < 0:
                        return ""
                    digest.update(chunk)
        except FileMissingError:
            return None
        return digest.hexdigest()

    async def _upload(self, file: FolderFile) -> AsyncIterator[Upload]:
        yield Upload(name=file.name, chunks=self.files.content(file))
