"""Access to the tool API: short-lived ES256 tokens bound to this sandbox and generation."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, cast

from jose import JWTError, jwt

from contracts.sandboxes import (
    CLAIM_END,
    CLAIM_SCOPE,
    KEEP_SCOPE,
    TOKEN_ALGORITHM,
    TOKEN_AUDIENCE,
    UNCLAIMED,
    Scope,
)
from tool_api.errors import ClaimedError, ScopeMissingError, UnauthenticatedError

_CACHED_TOKENS = 256
_MAX_TOKEN_CHARACTERS = 4096
_OPTIONS = {"require_exp": True, "require_sub": True, "require_aud": True, "leeway": 0}


@dataclass(frozen=True, slots=True)
class Grant:
    """The scopes that a verified token grants, and its expiry (Unix seconds)."""

    scopes: frozenset[str]
    expires_at: float

    def allows(self, scope: Scope) -> bool:
        return scope.value in self.scopes

    def demand(self, scope: Scope) -> None:
        """Pass, or raise `ScopeMissingError`."""
        if not self.allows(scope):
            raise ScopeMissingError(f"The token lacks the scope {scope.value}.")


class Access:
    """Verifies tokens and remembers verified ones until they expire, so that calls stay fast.

    While the sandbox is unclaimed it accepts only a claim token, which binds it to that token's generation and sets the
    time when the sandbox ends. It can't be claimed a second time.
    """

    def __init__(self, *, sandbox_id: str, generation: int, public_key_pem: str) -> None:
        self._sandbox_id = sandbox_id
        self._generation = generation
        self.claimed = asyncio.Event()
        self.ends_at: float | None = None
        """Unix seconds; None while the sandbox is unclaimed."""
        self._key = public_key_pem
        self._grants: dict[str, Grant] = {}

    @property
    def is_unclaimed(self) -> bool:
        """Whether the sandbox was started for any claimant and has none yet."""
        return self._generation == UNCLAIMED

    def verify(self, token: str) -> Grant:
        """The grant of a token.

        Raises:
            UnauthenticatedError: tampered, expired, for another sandbox or another generation, or nobody claimed it.
            ClaimedError: it would claim what is claimed.
        """
        grant = self._grants.get(token)
        if grant is None:
            grant = self._decode(token)
            if len(self._grants) >= _CACHED_TOKENS:
                del self._grants[next(iter(self._grants))]
            self._grants[token] = grant
        if grant.expires_at <= time.time():
            self._grants.pop(token, None)
            raise UnauthenticatedError("The token has expired.")
        return grant

    def verify_header(self, authorization: str | None) -> Grant:
        """The grant of an `Authorization` header; raises as `verify` does."""
        return self.verify(token_of(authorization))

    def verify_keep_alive(self, token: str) -> None:
        """Accept a manager's own token, also while the sandbox is unclaimed; a claim token claims it.

        Raises `UnauthenticatedError`, `ClaimedError`.
        """
        claims, scopes = self._claims(token)
        if KEEP_SCOPE not in scopes:
            raise UnauthenticatedError("The token was not issued to a manager.")
        claims_it = CLAIM_SCOPE in scopes
        if claims_it or not self.is_unclaimed:
            self._check_generation(claims, claims_it=claims_it)

    def _decode(self, token: str) -> Grant:
        claims, scopes = self._claims(token)
        self._check_generation(claims, claims_it=CLAIM_SCOPE in scopes)
        return Grant(scopes=frozenset(scopes), expires_at=float(claims["exp"]))

    def _claims(self, token: str) -> tuple[dict[str, Any], list[str]]:
        if len(token) > _MAX_TOKEN_CHARACTERS:
            raise UnauthenticatedError("The token is not valid.")
        try:
            claims = jwt.decode(
                token, self._key, algorithms=[TOKEN_ALGORITHM], audience=TOKEN_AUDIENCE, options=_OPTIONS
            )
        except JWTError as error:
            raise UnauthenticatedError("The token is not valid.") from error
        if claims.get("sub") != self._sandbox_id:
            raise UnauthenticatedError("The token is for another sandbox.")
        scopes: Any = claims.get("scopes")
        if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in cast("list[Any]", scopes)):
            raise UnauthenticatedError("The token names no scopes.")
        return claims, cast("list[str]", scopes)

    def _check_generation(self, claims: dict[str, Any], *, claims_it: bool) -> None:
        generation, end = claims.get("gen"), claims.get(CLAIM_END)
        if type(generation) is not int or generation == UNCLAIMED:
            raise UnauthenticatedError("The token is for no generation.")
        if self.is_unclaimed:
            if not claims_it or type(end) is not int:
                raise UnauthenticatedError("This sandbox is not claimed yet.")
            self._generation = generation
            self.ends_at = float(end)
            self.claimed.set()
        elif generation != self._generation:
            if claims_it:
                raise ClaimedError("This sandbox is already claimed.")
            raise UnauthenticatedError("The token is for another generation of this sandbox.")


def token_of(authorization: str | None) -> str:
    """The token of an `Authorization` header. Raises `UnauthenticatedError`."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise UnauthenticatedError("A bearer token is needed.")
    return token.strip()
