"""Endpoint tokens: ES256 JWTs."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from jose import jwt

from contracts.sandboxes import CLAIM_END, CLAIM_SCOPE, TOKEN_ALGORITHM, TOKEN_AUDIENCE
from sandbox_manager.domain.sandbox import Identity


def generate_private_key() -> str:
    """PEM of a fresh P-256 key."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


class Es256TokenKeys:
    """Signs with one private key given as PEM."""

    def __init__(self, private_key: str) -> None:
        self._private_key = private_key
        public = load_pem_private_key(private_key.encode(), password=None).public_key()
        self._public_key = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def public_key(self) -> str:
        return self._public_key

    def sign(
        self,
        identity: Identity,
        scopes: list[str],
        now: datetime,
        expires_at: datetime,
        *,
        claim_until: datetime | None = None,
    ) -> str:
        claims: dict[str, Any] = {
            "aud": TOKEN_AUDIENCE,
            "sub": identity.sandbox_id,
            "gen": identity.generation,
            "scopes": scopes,
            "iat": int(now.timestamp()),
            "exp": int(expires_at.timestamp()),
            "jti": secrets.token_hex(16),
        }
        if claim_until is not None:
            claims |= {"scopes": [*scopes, CLAIM_SCOPE], CLAIM_END: int(claim_until.timestamp())}
        return jwt.encode(claims, self._private_key, algorithm=TOKEN_ALGORITHM)
