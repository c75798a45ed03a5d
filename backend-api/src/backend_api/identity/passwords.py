"""argon2id in threads, a bounded number at a time."""

from __future__ import annotations

import asyncio
import base64
import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION  # pyright: ignore[reportUnknownVariableType]  # of the C library

_AT_ONCE = 4


class Argon2Passwords:
    """`PasswordHasher` with the library's recommended cost."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._nobody = _random_hash(self._hasher)

    async def hash(self, password: str) -> str:
        """A hash in PHC form, with its own salt."""
        async with self._slots:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def verify(self, password_hash: str | None, password: str) -> bool:
        """Whether the password is right. None is checked against a real hash, so that the time reveals nothing."""
        async with self._slots:
            is_right = await asyncio.to_thread(self._verify, password_hash or self._nobody, password)
        return is_right and password_hash is not None

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False


def _random_hash(hasher: PasswordHasher) -> str:
    """A hash in PHC form that takes as long to check as a real one, and no time to make: no password matches it."""
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    salt, digest = (
        base64.b64encode(secrets.token_bytes(length)).decode().rstrip("=")
        for length in (hasher.salt_len, hasher.hash_len)
    )
    return f"$argon2{hasher.type.name.lower()}$v={ARGON2_VERSION}${cost}${salt}${digest}"
