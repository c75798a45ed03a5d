"""Access tokens and links as signed JWT."""

from __future__ import annotations

import base64
import hmac
import time
import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from jose import JWTError, jwt

from backend_api.domain.identity.entity import AccessClaims, UserId
from backend_api.domain.identity.errors import TokenInvalidError
from backend_api.domain.previews.entity import PortId, PreviewGrant
from backend_api.domain.previews.errors import PreviewTokenError
from backend_api.domain.sandbox.tickets import FileLink, LinkInvalidError

AUDIENCE = "backend-api"
LINK_AUDIENCE = "backend-api/files"
PREVIEW_AUDIENCE = "backend-api/previews"
ALGORITHMS = ("HS256", "HS384", "HS512")
VERIFIED_TOKENS = 1_000
"""So many access tokens are remembered as verified, as each comes with many calls."""
VERIFIED_CHARACTERS = 512
"""Longer tokens are verified each time: ours have fewer than 400 characters, but base64 skips foreign ones, so that an
owner could make many of one."""
_INVALID = "The access token is invalid or has expired. Log in again."


class _Signer:
    def __init__(self, secret: str, algorithm: str, audience: str, kind: str, clock: Callable[[], float]) -> None:
        if algorithm not in ALGORITHMS:
            raise ValueError(f"JWT_ALGORITHM must be one of {', '.join(ALGORITHMS)}")
        self._secret = secret
        self._algorithm = algorithm
        self._audience = audience
        self._kind = kind
        self._clock = clock

    def sign(self, claims: dict[str, Any], expires_s: int) -> str:
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
        claims = self.verify(token)
        return None if claims is None or self.is_over(claims["exp"]) else claims

    def is_over(self, expires_at: float) -> bool:
        return expires_at < self._clock()

    def verify(self, token: str) -> dict[str, Any] | None:
        """All but whether the time `exp`, an integer, is over."""
        # A required time would be checked against this machine's clock; it is checked by `is_over`.
        options = {"require_aud": True, "require_jti": True, "verify_exp": False}
        try:
            claims = jwt.decode(
                token, self._secret, algorithms=[self._algorithm], audience=self._audience, options=options
            )
        except (JWTError, ValueError):
            return None
        is_whole = isinstance(claims.get("exp"), int) and claims.get("typ") == self._kind
        return claims if is_whole else None


class JwtAccessTokens:
    """`AccessTokens`."""

    def __init__(self, secret: str, *, algorithm: str, expires_s: int, clock: Callable[[], float] = time.time) -> None:
        self._signer = _Signer(secret, algorithm, AUDIENCE, "access", clock)
        self._key = secret.encode()
        self._expires_s = expires_s
        # By the whole text of a token. What raises is not kept.
        self._verified = lru_cache(VERIFIED_TOKENS)(self._verify)

    @property
    def lifetime_s(self) -> int:
        """As configured."""
        return self._expires_s

    def sign(self, claims: AccessClaims, *, at_most_s: int | None = None) -> tuple[str, int]:
        """A token of the log-in `claims.family`."""
        expires_s = self._expires_s if at_most_s is None else min(at_most_s, self._expires_s)
        token = self._signer.sign({"sub": claims.user_id, "fam": claims.family, "ver": claims.token_version}, expires_s)
        return token, expires_s

    def following(self, refresh_token: str) -> str:
        """Under the key of the tokens, in a way that no token is signed."""
        digest = hmac.digest(
            self._key, b"refresh token after " + refresh_token.encode("utf-8", "surrogatepass"), "sha384"
        )
        return base64.urlsafe_b64encode(digest).decode()

    def read(self, token: str) -> AccessClaims:
        """Signature, algorithm, audience, kind and time are all checked; but for the time, once a token."""
        verify = self._verified if len(token) <= VERIFIED_CHARACTERS else self._verify
        claims = verify(token)
        if claims.expires_at is None or self._signer.is_over(claims.expires_at):
            raise TokenInvalidError(_INVALID)
        return claims

    def _verify(self, token: str) -> AccessClaims:
        """All but whether its time is over."""
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


class JwtFileLinks:
    """`FileLinks`."""

    def __init__(self, secret: str, *, algorithm: str, clock: Callable[[], float] = time.time) -> None:
        self._signer = _Signer(secret, algorithm, LINK_AUDIENCE, "file", clock)

    def sign(self, link: FileLink, *, expires_s: int) -> str:
        """A token that names one file."""
        claims = {"sub": link.user_id, "sid": link.session_id, "path": link.path}
        return self._signer.sign(claims | ({"dir": 1} if link.is_folder else {}), expires_s)

    def read(self, token: str) -> FileLink:
        """What the token names."""
        claims = self._signer.read(token)
        if claims is None:
            raise LinkInvalidError("The link is invalid or has expired. Request a new one.")
        try:
            return FileLink(
                user_id=str(claims["sub"]),
                session_id=str(claims["sid"]),
                path=str(claims["path"]),
                is_folder=claims.get("dir") == 1,
            )
        except KeyError as error:
            raise LinkInvalidError("The link is invalid or has expired. Request a new one.") from error


class JwtPreviewTokens:
    """`PreviewTokens`: one kind of token for addresses, another one for cookies, neither of which is taken for the
    other."""

    def __init__(self, secret: str, *, algorithm: str, clock: Callable[[], float] = time.time) -> None:
        self._addresses = _Signer(secret, algorithm, PREVIEW_AUDIENCE, "preview-address", clock)
        self._cookies = _Signer(secret, algorithm, PREVIEW_AUDIENCE, "preview-cookie", clock)

    def sign_address(self, grant: PreviewGrant, *, expires_s: int) -> str:
        """For the query of an address."""
        return self._addresses.sign(_preview_claims(grant), expires_s)

    def read_address(self, token: str) -> PreviewGrant:
        """What it grants."""
        return _preview_grant(self._addresses.read(token))

    def sign_cookie(self, grant: PreviewGrant, *, expires_s: int) -> str:
        """For the host of the port."""
        return self._cookies.sign(_preview_claims(grant), expires_s)

    def read_cookie(self, token: str) -> PreviewGrant:
        """What it grants."""
        return _preview_grant(self._cookies.read(token))


def _preview_claims(grant: PreviewGrant) -> dict[str, Any]:
    claims = grant.claims
    payload = {"sub": claims.user_id, "fam": claims.family, "ver": claims.token_version, "port": grant.port_id}
    return payload | ({"local": 1} if claims.expires_at is None else {})


def _preview_grant(claims: dict[str, Any] | None) -> PreviewGrant:
    if claims is None:
        raise PreviewTokenError("The address is invalid or has expired. Open the port from the conversation again.")
    try:
        user = AccessClaims(
            user_id=UserId(str(claims["sub"])),
            family=str(claims["fam"]),
            token_version=int(claims["ver"]),
            # The local user has no log-in that could end.
            expires_at=None if claims.get("local") == 1 else float(claims["exp"]),
        )
        return PreviewGrant(port_id=PortId(str(claims["port"])), claims=user)
    except (KeyError, ValueError, TypeError) as error:
        raise PreviewTokenError("The address is invalid. Open the port from the conversation again.") from error
