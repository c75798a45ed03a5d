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
            raise _refusal(str(error)) from error


def _refusal(reason: str) -> InvalidError:
    """What is wrong with a key, from the library's own words, which alone tell a wrong passphrase from a broken key."""
    if reason.startswith("Passphrase must be specified"):
        return InvalidError("This key needs a passphrase.", field=PASSPHRASE, fault="key_passphrase_missing")
    if reason.startswith(("Incorrect passphrase", "Unable to decrypt")):
        return InvalidError("The passphrase of this key is wrong.", field=PASSPHRASE, fault="key_passphrase_wrong")
    incomplete = "Not a complete OpenSSH private key, which begins with -----BEGIN."
    return InvalidError(incomplete, field=FIELD, fault="key_unreadable")


def _pair(key: asyncssh.SSHKey) -> KeyPair:
    return KeyPair(private=key.export_private_key().decode(), public=key.export_public_key().decode().strip())
