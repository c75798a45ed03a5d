"""Secrets at rest: AES-256-GCM under keys derived from `SECRETS_KEY`."""

from __future__ import annotations

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from backend_api.settings.domain.entity import Sealed
from backend_api.settings.domain.errors import SecretsOffError, SecretUnreadableError

_NONCE_BYTES = 12
_ID_BYTES = 8


class AesSecretBox:
    """`SecretBox`: the first secret seals, each opens what it sealed. Without secrets, nothing is sealed or opened."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._keys = {
            _derive_key(secret, b"id", _ID_BYTES).hex(): AESGCM(_derive_key(secret, b"key", 32)) for secret in secrets
        }
        self._first = next(iter(self._keys), None)

    @property
    def key_id(self) -> str | None:
        return self._first

    def seal(self, secret: str, *, bound_to: str) -> Sealed:
        if self._first is None:
            raise SecretsOffError("This server does not store users' keys: SECRETS_KEY is not set.")
        nonce = os.urandom(_NONCE_BYTES)
        content = self._keys[self._first].encrypt(nonce, secret.encode(), bound_to.encode())
        return Sealed(key_id=self._first, text=urlsafe_b64encode(nonce + content).decode())

    def open(self, sealed: Sealed, *, bound_to: str) -> str:
        key = self._keys.get(sealed.key_id)
        if key is None:
            raise SecretUnreadableError("The secret was encrypted with another SECRETS_KEY.")
        try:
            content = urlsafe_b64decode(sealed.text)
            return key.decrypt(content[:_NONCE_BYTES], content[_NONCE_BYTES:], bound_to.encode()).decode()
        except (InvalidTag, ValueError) as error:
            raise SecretUnreadableError("The secret was altered, or belongs to another setting.") from error


def _derive_key(secret: str, purpose: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=b"settings of users, " + purpose).derive(
        secret.encode()
    )
