"""Access tokens as signed JWT."""

from __future__ import annotations

import base64
import hmac
import time
from collections.abc import Callable
from functools import lru_cache

from backend_api.identity.domain.entity import AccessClaims
from backend_api.identity.domain.errors import TokenInvalidError
from backend_api.kit.ids import UserId
from backend_api.kit.signed_tokens import TokenSigner

AUDIENCE = "backend-api"
VERIFIED_TOKENS = 1_000
"""The number of access tokens remembered as verified, as each comes with many calls."""
VERIFIED_CHARACTERS = 512
"""Longer tokens are verified each time: ours have fewer than 400 characters, but base64 skips foreign ones, so that an
owner could make many variants of one."""
_INVALID = "The access token is invalid or has expired. Log in again."


class JwtAccessTokens:
    """`AccessTokens`."""

    def __init__(self, secret: str, *, algorithm: str, expires_s: int, clock: Callable[[], float] = time.time) -> None:
        self._signer = TokenSigner(secret, algorithm, AUDIENCE, "access", clock)
        self._key = secret.encode()
        self._expires_s = expires_s
        # Cached by the whole text of a token; errors are not cached.
        self._verified = lru_cache(VERIFIED_TOKENS)(self._verify)

    @property
    def lifetime_s(self) -> int:
        """The configured lifetime."""
        return self._expires_s

    def sign(self, claims: AccessClaims, *, at_most_s: int | None = None) -> tuple[str, int]:
        """A token of the log-in `claims.family`."""
        expires_s = self._expires_s if at_most_s is None else min(at_most_s, self._expires_s)
        token = self._signer.sign({"sub": claims.user_id, "fam": claims.family, "ver": claims.token_version}, expires_s)
        return token, expires_s

    def following(self, refresh_token: str) -> str:
        """Derived with the signing key, in a way in which no token is signed."""
        digest = hmac.digest(
            self._key, b"refresh token after " + refresh_token.encode("utf-8", "surrogatepass"), "sha384"
        )
        return base64.urlsafe_b64encode(digest).decode()

    def read(self, token: str) -> AccessClaims:
        """Checks signature, algorithm, audience, kind and time; all but the time only once for each token."""
        verify = self._verified if len(token) <= VERIFIED_CHARACTERS else self._verify
        claims = verify(token)
        if claims.expires_at is None or self._signer.is_over(claims.expires_at):
            raise TokenInvalidError(_INVALID)
        return claims

    def _verify(self, token: str) -> AccessClaims:
        """Checks everything but the expiry."""
        claims = self._signer.verify(token)
        if claims is None:
            raise TokenInvalidError(_INVALID)
        try:
            return AccessClaims(
                user_id=UserId(str(claims["sub"])),
                family=str(claims["fam"]),
                token_version=int(claims["ver"]),
                expires_at=float(claims["exp"]),
            )
        except (KeyError, ValueError, TypeError) as error:
            raise TokenInvalidError(_INVALID) from error
