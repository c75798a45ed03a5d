"""`SshKeys` by asyncssh."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import asyncssh

from backend_api.kit.errors import InvalidError
from backend_api.targets.domain import KeyPair

_generate = cast("Callable[..., asyncssh.SSHKey]", asyncssh.generate_private_key)
FIELD = "body.private_key"
PASSPHRASE = "body.passphrase"
MAX_COMMENT = 60


class AsyncsshKeys:
    """New keys are Ed25519; pasted ones may be of any type that OpenSSH has."""

    def generate(self, comment: str) -> KeyPair:
        """Generate a key. Its comment is printable ASCII, as some hosts read nothing else in their list of keys."""
        plain = "".join(one if one.isascii() and (one.isalnum() or one in "-_.") else "-" for one in comment)
        return _pair(_generate("ssh-ed25519", comment=plain[:MAX_COMMENT]))

    def read(self, private: str, passphrase: str | None) -> KeyPair:
        text = private.strip() + "\n"
        try:
            return _pair(asyncssh.import_private_key(text, passphrase))
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, ValueError) as error:
            raise _refusal(text, has_passphrase=bool(passphrase)) from error


def _refusal(text: str, *, has_passphrase: bool) -> InvalidError:
    """What is wrong with a key: decrypted with a wrong passphrase, an encrypted one may look broken."""
    if not _is_encrypted(text):
        incomplete = "Not a complete OpenSSH private key, which begins with -----BEGIN."
        return InvalidError(incomplete, field=FIELD, fault="key_unreadable")
    if has_passphrase:
        return InvalidError("The passphrase of this key is wrong.", field=PASSPHRASE, fault="key_passphrase_wrong")
    return InvalidError("This key needs a passphrase.", field=PASSPHRASE, fault="key_passphrase_missing")


def _is_encrypted(text: str) -> bool:
    try:
        asyncssh.import_private_key(text)
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, ValueError) as error:
        return str(error).startswith("Passphrase must be specified")
    return False


def _pair(key: asyncssh.SSHKey) -> KeyPair:
    return KeyPair(private=key.export_private_key().decode(), public=key.export_public_key().decode().strip())
