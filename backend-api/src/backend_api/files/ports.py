"""What editing files needs of the outside."""

from __future__ import annotations

from typing import Protocol

from backend_api.files.domain import SavedText, TextFile
from backend_api.sandboxes.domain.entity import Sandbox


class FileEditor(Protocol):
    """Files of a sandbox. All raise `PathForbiddenError`, `FileMissingError`, `ConflictError`, `SandboxFullError`,
    `SandboxUnavailableError`, `SandboxLostError`."""

    async def read(self, sandbox: Sandbox, path: str) -> TextFile: ...

    async def save(self, sandbox: Sandbox, path: str, content: str, if_match: str | None) -> SavedText:
        """Raises `FileChangedError` where the file is not as `if_match` says; None is one that is not there."""
        ...

    async def move(self, sandbox: Sandbox, source: str, destination: str) -> str:
        """Its path now. Nothing is replaced."""
        ...

    async def make_folder(self, sandbox: Sandbox, path: str) -> str:
        """Its path."""
        ...

    async def delete(self, sandbox: Sandbox, path: str) -> str:
        """Its path. A folder goes with all that is in it."""
        ...
