"""A link by which others may read a conversation, without an account."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NewType, get_args

from backend_api.kit.ids import SessionId, UserId

ShareId = NewType("ShareId", str)
Mode = Literal["snapshot", "live"]
Part = Literal["files", "tools", "thinking"]
"""Optional parts of a shared conversation: files of the workspace, inputs and outputs of tools, thinking."""
PARTS: tuple[Part, ...] = get_args(Part)
UNLOCKED_S = 12 * 3600
"""Seconds for which a passphrase, once given, opens the link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFile:
    """A file of the shared archive."""

    path: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A snapshot shows no event after `through_seq`, and has the `title` of its time; a live link shows the present
    conversation. `files` are copies as of the link's creation. Of token and passphrase only hashes are stored."""

    id: ShareId
    session_id: SessionId
    user_id: UserId
    mode: Mode
    include: frozenset[Part]
    title: str
    through_seq: int
    token_hash: str
    passphrase_hash: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    files: tuple[SharedFile, ...] = ()
    archive_size: int = 0

    @property
    def has_passphrase(self) -> bool:
        return self.passphrase_hash is not None

    @property
    def file_names(self) -> frozenset[str]:
        """The paths of its files."""
        return frozenset(one.path for one in self.files)

    def is_over(self, now: float) -> bool:
        """Whether it has expired."""
        return self.expires_at is not None and self.expires_at.timestamp() <= now

    def is_opened_by(self, token: str) -> bool:
        """Whether this is its token, compared in constant time."""
        return hmac.compare_digest(hash_of(token), self.token_hash)

    def pass_until(self, now: float) -> tuple[str, float]:
        """A pass for a reader who gave the passphrase, and its expiry. It becomes invalid with the passphrase and needs
        no key of the server's: it is signed with the hash of the passphrase."""
        until = int(now) + UNLOCKED_S
        return f"{until}.{self._signature(until)}", float(until)

    def is_passed_by(self, shown: str, now: float) -> bool:
        """Whether the pass was issued for the passphrase, and has not expired."""
        until, _, signature = shown.partition(".")
        if not (until.isascii() and until.isdecimal() and len(until) < 20) or int(until) <= now:
            return False
        return hmac.compare_digest(self._signature(int(until)).encode(), signature.encode("utf-8", "replace"))

    def _signature(self, until: int) -> str:
        key = (self.passphrase_hash or "").encode()
        return hmac.new(key, f"{self.id}:{until}".encode(), hashlib.sha256).hexdigest()


def new_token() -> str:
    """A random token of 256 bits."""
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """The stored hash of a token: of so many random bits a plain digest reveals nothing."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
