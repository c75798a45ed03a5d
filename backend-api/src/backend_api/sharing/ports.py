"""Ports that sharing needs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from backend_api.kit.ids import SessionId, UserId
from backend_api.sharing.domain.entity import Share, ShareId


class Shares(Protocol):
    """Links and the archives of their files. All raise `StoreUnavailableError`."""

    async def add(self, share: Share, archive: bytes = b"") -> None:
        """Store a link with its archive."""
        ...

    async def get(self, share_id: ShareId) -> Share:
        """The link. Raises `ShareNotFoundError`."""
        ...

    async def of_user(self, user_id: UserId, session_id: SessionId | None = None) -> Sequence[Share]:
        """The links of a user, or of one of the user's sessions, newest first."""
        ...

    async def revoke(self, share_id: ShareId, user_id: UserId) -> None:
        """Remove a link with its archive. Raises `ShareNotFoundError`, for another user's link as well."""
        ...

    async def is_there(self, share_id: ShareId) -> bool:
        """Whether it exists and was not revoked."""
        ...

    def archive(self, share_id: ShareId) -> AsyncIterator[bytes]:
        """The archive, piece by piece."""
        ...


class WorkspaceArchive(Protocol):
    """The whole workspace of a session as a zip archive."""

    def pieces(self, session_id: SessionId, user_id: UserId) -> AsyncIterator[bytes]:
        """The archive, piece by piece. Raises what `SessionSandbox` and `Workspace.download` raise."""
        ...


class PrintTalk(Protocol):
    """Makes a PDF of a conversation."""

    async def __call__(self, *, owner: str, title: str, language: str, words: str, sections: Sequence[str]) -> bytes:
        """`owner` is the user for whom it is made, `language` that of the text, and `words` that of our own. Sections
        are Markdown, each by itself. Raises a `DomainError` that says why there is none."""
        ...


class NameRecords(Protocol):
    """Replaces the ids of papers that a user keeps by what a reader elsewhere understands."""

    async def __call__(self, user_id: UserId, text: str) -> str:
        """The text, which is Markdown, with titles and addresses. Raises `StoreUnavailableError`."""
        ...
