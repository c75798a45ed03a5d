"""argon2id in threads, a bounded number at a time."""

from __future__ import annotations

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_AT_ONCE = 4


class Argon2Passwords:
    """`PasswordHasher` with the library's recommended cost."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._nobody = self._hasher.hash("nobody has this password")

    async def hash(self, password: str) -> str:
        """In PHC form, with its own salt."""
        async with self._slots:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def verify(self, password_hash: str | None, password: str) -> bool:
        """None is checked against a real hash, so that the time tells nothing."""
        async with self._slots:
            is_right = await asyncio.to_thread(self._verify, password_hash or self._nobody, password)
        return is_right and password_hash is not None

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False
