"""REST contract of the sandbox manager.

| call | body | answer |
|---|---|---|
| POST /sandboxes | `CreateSandbox` | 201 new, 200 existing: `Sandbox`; idempotent on `session_id` |
| GET /sandboxes?user_id=&session_id= | | `SandboxList` |
| GET /sandboxes/{id}?wait_ms= | | `Sandbox`; with `wait_ms` answers once it left `starting`, or at the deadline |
| POST /sandboxes/{id}/renew | | `Sandbox` with a later `idle_expires_at`; 409 when it is gone or failed |
| POST /sandboxes/{id}/tokens | `TokenRequest` | 201 `DoorToken`; 409 unless ready |
| DELETE /sandboxes/{id}?keep_workspace= | | 204, also when it does not exist |
| GET /healthz, /readyz | | open inside the deployment |

Every call but health asks for `Authorization: Bearer <SANDBOX_MANAGER_TOKEN>`. Errors are problem details.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class SandboxStatus(StrEnum):
    """Life of a sandbox as the manager reports it."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    GONE = "gone"


class Scope(StrEnum):
    """What a door token may be used for."""

    EXEC = "exec"
    FILES = "files"
    BROWSER = "browser"
    VNC_VIEW = "vnc:view"
    VNC_CONTROL = "vnc:control"


class CreateSandbox(BaseModel):
    """Ask for the one sandbox of a session; asking again answers the living one."""

    model_config = ConfigDict(extra="forbid")

    session_id: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    user_id: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")


class Sandbox(BaseModel):
    """One sandbox. A rebuilt sandbox of the same session has a new `id` and a higher `generation`."""

    id: str
    session_id: str
    user_id: str
    generation: int = Field(ge=1)
    runtime: str
    status: SandboxStatus
    reason: str | None = None
    retryable: bool = False
    has_desktop: bool = True
    has_network: bool = True
    created_at: datetime
    expires_at: datetime
    idle_expires_at: datetime


class SandboxList(BaseModel):
    """Answer of the list call."""

    items: list[Sandbox]


class TokenRequest(BaseModel):
    """Scopes and lifetime (seconds) of a door token."""

    model_config = ConfigDict(extra="forbid")

    scopes: list[Scope] = Field(min_length=1)
    ttl_s: int = Field(default=300, ge=5, le=900)


class DoorToken(BaseModel):
    """A signed token for one generation of one sandbox and the address of its door.

    `door` is `http://host:port`, or `unix:/absolute/path.sock` (the connecting side must refuse symlinks:
    the sandbox owns the folder the socket stands in).
    """

    token: str
    expires_at: datetime
    door: str
    sandbox_id: str
    generation: int


DOOR_ALGORITHM = "ES256"
DOOR_AUDIENCE = "tool-api"
