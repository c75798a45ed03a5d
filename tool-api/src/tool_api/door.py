"""Who may pass the door: short-lived ES256 tokens bound to this sandbox and generation."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from fastapi import Request
from jose import JWTError, jwt

from contracts.sandboxes import DOOR_ALGORITHM, DOOR_AUDIENCE, Scope
from tool_api.errors import ScopeMissingError, UnauthenticatedError

_CACHED_TOKENS = 256
_MAX_TOKEN_CHARACTERS = 4096
_OPTIONS = {"require_exp": True, "require_sub": True, "require_aud": True, "leeway": 0}


@dataclass(frozen=True, slots=True)
class Grant:
    """What a verified token allows, and until when (Unix seconds)."""

    scopes: frozenset[str]
    expires_at: float

    def allows(self, scope: Scope) -> bool:
        return scope.value in self.scopes

    def demand(self, scope: Scope) -> None:
        """Pass, or raise `ScopeMissingError`."""
        if not self.allows(scope):
            raise ScopeMissingError(f"The token lacks the scope {scope.value}.")


class Door:
    """Verifies tokens; verified ones are remembered until they expire, so that a call stays fast."""

    def __init__(self, *, sandbox_id: str, generation: int, public_key_pem: str) -> None:
        self._sandbox_id = sandbox_id
        self._generation = generation
        self._key = public_key_pem
        self._grants: dict[str, Grant] = {}

    def verify(self, token: str) -> Grant:
        """The grant of a token.

        Raises:
            UnauthenticatedError: tampered, expired, for another sandbox or another generation.
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
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise UnauthenticatedError("A bearer token is needed.")
        return self.verify(token.strip())

    def _decode(self, token: str) -> Grant:
        if len(token) > _MAX_TOKEN_CHARACTERS:
            raise UnauthenticatedError("The token is not valid.")
        try:
            claims = jwt.decode(token, self._key, algorithms=[DOOR_ALGORITHM], audience=DOOR_AUDIENCE, options=_OPTIONS)
        except JWTError as error:
            raise UnauthenticatedError("The token is not valid.") from error
        if claims.get("sub") != self._sandbox_id:
            raise UnauthenticatedError("The token is for another sandbox.")
        generation = claims.get("gen")
        if type(generation) is not int or generation != self._generation:
            raise UnauthenticatedError("The token is for another generation of this sandbox.")
        scopes: Any = claims.get("scopes")
        if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in cast("list[Any]", scopes)):
            raise UnauthenticatedError("The token names no scopes.")
        return Grant(scopes=frozenset(cast("list[str]", scopes)), expires_at=float(claims["exp"]))


def grant_of(request: Request) -> Grant:
    """The one dependency every route but health passes through."""
    door: Door = request.app.state.services.door
    return door.verify_header(request.headers.get("authorization"))


def require(scope: Scope) -> Callable[[Request], Awaitable[Grant]]:
    """A dependency that asks for a token with this scope."""

    async def dependency(request: Request) -> Grant:
        grant = grant_of(request)
        grant.demand(scope)
        return grant

    return dependency
