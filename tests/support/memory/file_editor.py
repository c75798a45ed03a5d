"""Editing of files that lie in dictionaries. For tests."""

from __future__ import annotations

import hashlib

from backend_api.files.domain import FileChangedError, SavedText, TextFile
from backend_api.kit.errors import ConflictError
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import FileMissingError
from support.memory.sandboxes import MemoryWorkspace


class MemoryFileEditor:
    """`FileEditor` on the files of a `MemoryWorkspace`. Folders are what files lie in, and no more."""

    def __init__(self, workspace: MemoryWorkspace) -> None:
        self._workspace = workspace

    def _files(self, sandbox: Sandbox) -> dict[str, bytes]:
        return self._workspace.files.setdefault(sandbox.session_id, {})

    async def read(self, sandbox: Sandbox, path: str) -> TextFile:
        data = self._files(sandbox).get(path)
        if data is None:
            raise FileMissingError(f"There is no {path}.")
        return TextFile(
            path=path,
            name=path.rpartition("/")[2],
            size=len(data),
            content=data.decode(),
            etag=_etag(data),
            encoding="UTF-8",
            language=None,
            reason=None,
        )

    async def save(self, sandbox: Sandbox, path: str, content: str, if_match: str | None) -> SavedText:
        present = self._files(sandbox).get(path)
        if (None if present is None else _etag(present)) != if_match:
            raise FileChangedError("The file was changed since it was opened. Nothing was saved.")
        data = self._files(sandbox)[path] = content.encode()
        return SavedText(path=path, size=len(data), etag=_etag(data))

    async def move(self, sandbox: Sandbox, source: str, destination: str) -> str:
        files = self._files(sandbox)
        if source not in files:
            raise FileMissingError(f"There is no {source}.")
        if destination in files:
            raise ConflictError(f"{destination} is there already.")
        files[destination] = files.pop(source)
        return destination

    async def make_folder(self, sandbox: Sandbox, path: str) -> str:
        return path

    async def delete(self, sandbox: Sandbox, path: str) -> str:
        files = self._files(sandbox)
        gone = [name for name in files if name == path or name.startswith(f"{path}/")]
        if not gone:
            raise FileMissingError(f"There is no {path}.")
        for name in gone:
            del files[name]
        return path


def _etag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
