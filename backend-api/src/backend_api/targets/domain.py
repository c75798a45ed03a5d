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
"""Which remote hosts there may be: none, those at public addresses, or those at any."""
SignInBy = Literal["key", "agent"]
KeyState = Literal["pinned", "unknown", "changed"]

HOST_PREFIX = "host_"
"""Of the ids of remote hosts, so that one that was deleted is still known as one."""
SANDBOX_PREFIX = "sandbox_"
MAX_TARGETS = 50
MAX_NAME_CHARACTERS = 60
DEFAULT_PORT = 22


@dataclass(frozen=True, slots=True)
class HostKey:
    """By which a host proves who it is; `data` is in base64, as in a file of known hosts."""

    algorithm: str
    data: str

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` shows it."""
        try:
            raw = base64.b64decode(self.data, validate=True)
        except binascii.Error:
            return "SHA256:"
        return f"SHA256:{base64.b64encode(hashlib.sha256(raw).digest()).decode().rstrip('=')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SshHost:
    """How a host is signed in to. `host_key` is the one that the user confirmed, `seen_key` the one that it showed
    last; `public_key` is what the host has to know, None where an agent signs. An empty `folder` is the home folder."""

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
    """A remote host by its name. `version` grows with each change; `sealed` is the private key of a host."""

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
        """What its sealed key holds for alone."""
        return f"{self.user_id}\ntarget\n{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxTarget:
    """A sandbox that is made of another image or of another size, by its name. `version` grows with each change."""

    id: TargetId
    user_id: UserId
    name: str
    made_of: SandboxConfiguration
    version: int = 1
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """Both halves of a key, as OpenSSH writes them."""

    private: str
    public: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStep:
    """One of the things that were tried, in their order; `detail` says what was found, or what failed and why."""

    name: Literal["address", "connection", "host_key", "sign_in", "shell", "folder", "files", "image", "size"]
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a test of a computer came to. `code` is of the error that ended it."""

    steps: Sequence[TrialStep] = field(default=())
    code: str | None = None
    host_key: HostKey | None = None
    key_state: KeyState | None = None
    latency_ms: int | None = None
    shell: str | None = None
    folder: str | None = None

    @property
    def ok(self) -> bool:
        """Whether all went well."""
        return self.code is None
