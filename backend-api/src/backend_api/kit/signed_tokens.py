"""Signed JSON Web Tokens (RFC 7519)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jose import JWTError, jwt

ALGORITHMS = ("HS256", "HS384", "HS512")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """The secret and algorithm that sign a deployment's tokens."""

    secret: str = field(repr=False)
    algorithm: str


class TokenSigner:
    """Signs and reads the tokens of one kind and audience, which are not valid as any other kind."""

    def __init__(self, secret: str, algorithm: str, audience: str, kind: str, clock: Callable[[], float]) -> None:
        if algorithm not in ALGORITHMS:
            raise ValueError(f"JWT_ALGORITHM must be one of {', '.join(ALGORITHMS)}")
        self._secret = secret
        self._algorithm = algorithm
        self._audience = audience
        self._kind = kind
        self._clock = clock

    def sign(self, claims: dict[str, Any], expires_s: int) -> str:
        """A token with these claims, valid for `expires_s` seconds."""
        now = int(self._clock())
        whole = claims | {
            "typ": self._kind,
            "aud": self._audience,
            "jti": uuid.uuid4().hex,
            "iat": now,
            "exp": now + expires_s,
        }
        return jwt.encode(whole, self._secret, algorithm=self._algorithm)

    def read(self, token: str) -> dict[str, Any] | None:
        """The claims of a valid token, or None."""
        claims = self.verify(token)
        return None if claims is None or self.is_over(claims["exp"]) else claims

    def is_over(self, expires_at: float) -> bool:
        """Whether this time, in Unix seconds, is past."""
        return expires_at < self._clock()

    def verify(self, token: str) -> dict[str, Any] | None:
        """Like `read`, but without checking the time: `exp` is an integer that may be past."""
        # The time is checked by `is_over`, since the library would use this machine's clock.
        options = {"require_aud": True, "require_jti": True, "verify_exp": False}
        try:
            claims = jwt.decode(
                token, self._secret, algorithms=[self._algorithm], audience=self._audience, options=options
            )
        except (JWTError, ValueError):
            return None
        is_whole = isinstance(claims.get("exp"), int) and claims.get("typ") == self._kind
        return claims if is_whole else None
