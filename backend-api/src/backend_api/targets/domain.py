"""Targets: the computers that a user may choose for a conversation."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NewType

from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.choices import SandboxConfiguration
from backend_api.settings.domain.entity import Sealed

TargetId = NewType("TargetId", str)
SshAccess = Literal["off", "public", "any"]
"""The allowed remote hosts: none, those at public addresses, or those at any address."""
SignInBy = Literal["key", "agent"]
KeyState = Literal["pinned", "unknown", "changed"]

HOST_PREFIX = "host_"
"""The prefix of remote hosts' ids, by which a deleted one is still recognised as one."""
SANDBOX_PREFIX = "sandbox_"
MAX_TARGETS = 50
MAX_NAME_CHARACTERS = 60
DEFAULT_PORT = 22


@dataclass(frozen=True, slots=True)
class HostKey:
    """The public key by which a host proves its identity; `data` is in base64, as in a file of known hosts."""

    algorithm: str
    data: str

    @property
    def fingerprint(self) -> str:
        """The fingerprint in the form of `ssh-keygen -l`."""
        try:
            raw = base64.b64decode(self.data, validate=True)
        except binascii.Error:
            return "SHA256:"
        return f"SHA256:{base64.b64encode(hashlib.sha256(raw).digest()).decode().rstrip('=')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SshHost:
    """The address and log-in of a host. `host_key` is the key that the user confirmed, `seen_key` the one that the host
    showed last; `public_key` is the user's key that the host must accept, None if an agent signs. An empty `folder` is
    the home folder."""

    host: str
    port: int = DEFAULT_PORT
    username: str
    folder: str = ""
    sign_in_by: SignInBy = "key"
    public_key: str | None = None
    host_key: HostKey | None = None
    seen_key: HostKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A named remote host. `version` grows with each change; `sealed` is the encrypted private key."""

    id: TargetId
    user_id: UserId
    name: str
    ssh: SshHost
    sealed: Sealed | None = None
    version: int = 1
    created_at: datetime
    updated_at: datetime

    @property
    def bound_to(self) -> str:
        """The context that its private key is sealed to."""
        return f"{self.user_id}\ntarget\n{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxTarget:
    """A named choice of image or size for sandboxes. `version` grows with each change."""

    id: TargetId
    user_id: UserId
    name: str
    made_of: SandboxConfiguration
    version: int = 1
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """Both halves of a key, in OpenSSH's format."""

    private: str
    public: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStep:
    """One of the tested steps, in their order; `detail` gives the result, or what failed and why."""

    name: Literal["address", "connection", "host_key", "sign_in", "shell", "folder", "files", "image", "size"]
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The result of testing a computer. `code` is that of the error that ended the test."""

    steps: Sequence[TrialStep] = field(default=())
    code: str | None = None
    host_key: HostKey | None = None
    key_state: KeyState | None = None
    latency_ms: int | None = None
    shell: str | None = None
    folder: str | None = None

    @property
    def ok(self) -> bool:
        """Whether all steps succeeded."""
        return self.code is None
