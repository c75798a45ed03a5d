"""Making a link to a conversation."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from backend_api.conversations.domain.entity import Session
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import PasswordHasher, RateLimiter
from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import SessionId, UserId
from backend_api.sharing.application.owner_mask import OwnerMask
from backend_api.sharing.domain.entity import Mode, Part, Share, SharedFile, ShareId, hash_of, new_token
from backend_api.sharing.domain.errors import SharedFilesTooLargeError, SharingDisabledError, TooManySharesError
from backend_api.sharing.ports import Shares, WorkspaceArchive

MOST_SHARES = 200
"""The most links of a user."""
MOST_ARCHIVE_BYTES = 20 * 1024 * 1024
MOST_ARCHIVES_BYTES = 200 * 1024 * 1024
"""The most bytes of all archives of a user's links together."""
MOST_FILES = 2_000
MIN_PASSPHRASE = 6
MAX_PASSPHRASE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedShare:
    """The link that its maker requests."""

    mode: Mode
    include: frozenset[Part] = frozenset()
    expires_at: datetime | None = None
    passphrase: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeShare:
    """Raises `SessionNotFoundError`, `SharingDisabledError`, `InvalidError`, `TooManySharesError`,
    `SharedFilesTooLargeError`, `LimitError`, and what the workspace raises if files are included."""

    shares: Shares
    sessions: SessionRepository
    passwords: PasswordHasher
    owner_mask: OwnerMask
    limiter: RateLimiter
    limits: Limits
    clock: Callable[[], float]
    is_enabled: bool = True

    async def __call__(
        self, session_id: SessionId, user_id: UserId, wanted: WantedShare, workspace: WorkspaceArchive
    ) -> tuple[Share, str]:
        """Make the link; returns it with its token, which is not stored."""
        session = await self.sessions.get(session_id, user_id)
        if not self.is_enabled:
            raise SharingDisabledError
        self._check(wanted)
        await self.limiter.hit(f"shares:{user_id}", limit=self.limits.sessions_per_minute, window_s=60)
        held = await self.shares.of_user(user_id)
        if len(held) >= MOST_SHARES:
            raise TooManySharesError(MOST_SHARES)
        archive = b""
        # A conversation that never had a computer has no files.
        if "files" in wanted.include and session.sandbox is not None:
            archive = await _archive(workspace.pieces(session_id, user_id))
            if len(archive) + sum(one.archive_size for one in held) > MOST_ARCHIVES_BYTES:
                raise SharedFilesTooLargeError(
                    "The files of all your links together are more than 200 MB. Revoke some first.",
                    limit_bytes=MOST_ARCHIVES_BYTES,
                )
        token = new_token()
        share = await self._share(session, wanted, token, archive)
        await self.shares.add(share, archive)
        return share, token

    def _check(self, wanted: WantedShare) -> None:
        if wanted.expires_at is not None:
            if wanted.expires_at.tzinfo is None:
                raise InvalidError(
                    "Give the time with its zone, such as 2030-01-31T12:00:00Z.", field="body.expires_at"
                )
            if wanted.expires_at.timestamp() <= self.clock():
                raise InvalidError("The link would have expired already. Choose a later time.", field="body.expires_at")
        if wanted.passphrase is not None and not MIN_PASSPHRASE <= len(wanted.passphrase) <= MAX_PASSPHRASE:
            raise InvalidError(
                f"A passphrase has from {MIN_PASSPHRASE} to {MAX_PASSPHRASE} characters.", field="body.passphrase"
            )

    async def _share(self, session: Session, wanted: WantedShare, token: str, archive: bytes) -> Share:
        passphrase = wanted.passphrase
        mask = await self.owner_mask(session.user_id)
        return Share(
            id=ShareId(uuid4().hex),
            session_id=session.id,
            user_id=session.user_id,
            mode=wanted.mode,
            include=wanted.include,
            title=mask.text(session.title),
            through_seq=session.last_seq,
            token_hash=hash_of(token),
            passphrase_hash=None if passphrase is None else await self.passwords.hash(passphrase),
            created_at=datetime.fromtimestamp(self.clock(), UTC),
            expires_at=wanted.expires_at,
            files=await asyncio.to_thread(_listed, archive) if archive else (),
            archive_size=len(archive),
        )


async def _archive(pieces: AsyncIterator[bytes]) -> bytes:
    whole = bytearray()
    async for piece in pieces:
        whole += piece
        if len(whole) > MOST_ARCHIVE_BYTES:
            raise SharedFilesTooLargeError(
                "The files of this conversation are more than 20 MB, compressed. Share it without files, or delete "
                "some first.",
                limit_bytes=MOST_ARCHIVE_BYTES,
            )
    return bytes(whole)


def _listed(archive: bytes) -> tuple[SharedFile, ...]:
    """The archive's files by name. An archive comes from a sandbox: an unreadable one has no names."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            found = [one for one in opened.infolist() if not one.is_dir()]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return ()
    return tuple(SharedFile(path=one.filename[:1000], size=one.file_size) for one in found[:MOST_FILES])
