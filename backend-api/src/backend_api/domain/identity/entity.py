"""Who uses the product."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NewType

UserId = NewType("UserId", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """An account. `username` is unique without regard to case; `password_hash` is argon2id in PHC form."""

    id: UserId
    username: str
    email: str | None
    password_hash: str
    is_admin: bool
    is_active: bool
    created_at: datetime
