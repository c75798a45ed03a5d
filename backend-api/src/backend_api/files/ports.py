"""The port to the files of a sandbox."""

from __future__ import annotations

from typing import Protocol

from backend_api.files.domain import SavedText, TextFile
from backend_api.sandboxes.domain.entity import Sandbox


class FileEditor(Protocol):
    """Files of a sandbox. All raise `PathForbiddenError`, `FileMissingError`, `ConflictError`, `SandboxFullError`,
    `SandboxUnavailableError`, `SandboxLostError`."""

    async def read(self, sandbox: Sandbox, path: str) -> TextFile: ...

    async def save(self, sandbox: Sandbox, path: str, content: str, if_match: str | None) -> SavedText:
        """Write the text. Raises `FileChangedError` if the file does not match `if_match`; None means a new file."""
        ...

    async def move(self, sandbox: Sandbox, source: str, destination: str) -> str:
        """Move without replacing anything, and return the new path."""
        ...

    async def make_folder(self, sandbox: Sandbox, path: str) -> str:
        """Make a folder, and return its path."""
        ...

    async def delete(self, sandbox: Sandbox, path: str) -> str:
        """Delete a file, or a folder with everything in it, and return its path."""
        ...
