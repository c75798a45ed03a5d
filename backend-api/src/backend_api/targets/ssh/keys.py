"""`SshKeys` by asyncssh."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import asyncssh

from backend_api.kit.errors import InvalidError
from backend_api.targets.domain import KeyPair

_generate = cast("Callable[..., asyncssh.SSHKey]", asyncssh.generate_private_key)
FIELD = "body.private_key"
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
        except asyncssh.KeyEncryptionError as error:
            wrong = ("The passphrase of this key is wrong.", "key_passphrase_wrong")
            reason, fault = wrong if passphrase else ("This key needs a passphrase.", "key_passphrase_missing")
            raise InvalidError(reason, field="body.passphrase", fault=fault) from error
        except (asyncssh.KeyImportError, ValueError) as error:
            reason = "Not a complete OpenSSH private key, which begins with -----BEGIN."
            raise InvalidError(reason, field=FIELD, fault="key_unreadable") from error


def _pair(key: asyncssh.SSHKey) -> KeyPair:
    return KeyPair(private=key.export_private_key().decode(), public=key.export_public_key().decode().strip())
