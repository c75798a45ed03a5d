"""REST contract of the sandbox manager.

| call | body | answer |
|---|---|---|
| POST /sandboxes | `CreateSandbox` | 201 new, 200 existing: `Sandbox`; idempotent on `session_id`; resumes |
| GET /sandboxes?user_id=&session_id= | | `SandboxList` |
| GET /sandboxes/events?after= | | SSE, `event: sandbox`, `data: Sandbox` for each change of `revision` |
| GET /sandboxes/{id}?wait_ms= | | `Sandbox`; waits until it left `starting` or `queued`, or for `wait_ms` |
| GET /sandboxes/{id}/stats | | `SandboxStats` |
| GET /choices | | `SandboxChoices` |
| GET /stats | | `ManagerStats` |
| POST /sandboxes/{id}/renew | | `Sandbox` with a later `idle_expires_at`; resumes; 409 when it is gone or failed |
| POST /sandboxes/{id}/pause | | `Sandbox`, frozen until a token, renew or resume wakes it; 409 unless ready or paused |
| POST /sandboxes/{id}/resume | | `Sandbox`, running; 409 unless ready or paused |
| POST /sandboxes/{id}/tokens | `TokenRequest` | 201 `EndpointToken`; resumes; 409 unless ready or paused |
| DELETE /sandboxes/{id}?keep_workspace=&only_queued= | | 204, also when it is not there; files stay unless `false` |
| GET /healthz, /readyz | | open inside the deployment |

An event's `id` is where to go on, as `after` or `Last-Event-ID`, at any manager; 404 `mark_lost` means to list and
begin anew. A queued sandbox that nobody waits for (by `wait_ms` or renew) for half a minute loses its place.
Every call but health asks for `Authorization: Bearer <SANDBOX_MANAGER_TOKEN>`. Errors are problem details:
an image or a size that is not among the choices is 422 `sandbox_image_not_allowed`, `sandbox_size_not_allowed`, an
image that is not there 503 `sandbox_image_missing`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from contracts.identifiers import NAME


class SandboxStatus(StrEnum):
    """Life of a sandbox as the manager reports it."""

    QUEUED = "queued"
    STARTING = "starting"
    READY = "ready"
    PAUSED = "paused"
    FAILED = "failed"
    GONE = "gone"


class Scope(StrEnum):
    """Permitted uses of an endpoint token."""

    EXEC = "exec"
    FILES = "files"
    BROWSER = "browser"
    VNC_VIEW = "vnc:view"
    VNC_CONTROL = "vnc:control"
    PORTS = "ports"


class CreateSandbox(BaseModel):
    """Request the one sandbox of a session; a repeated request returns the living one, unchanged. `image` and `size`
    are names of `SandboxChoices`; without them it has the default."""

    model_config = ConfigDict(extra="forbid")

    session_id: str = Field(pattern=NAME)
    user_id: str = Field(pattern=NAME)
    image: str | None = Field(default=None, max_length=64)
    size: str | None = Field(default=None, max_length=64)


class Sandbox(BaseModel):
    """One sandbox. A rebuilt sandbox of the same session has a new `id` and a higher `generation`.

    `revision` grows with every change a person may want to see; with the generation it orders a session's states.
    `notice` warns that the sandbox ends soon, `disk_notice`, since the revision `disk_revision`, that its files nearly
    reach their limit: `disk_fill` is filling or full, of `disk_limit_mb`. `queue_position` is 1 for the next one to
    start, `queue_reason` whether a queued one waits for room or for its user to have fewer running. One that is gone
    and `was_never_there` was given up before it was ready; a list contains it only if the session had no other.
    """

    id: str
    session_id: str
    user_id: str
    generation: int = Field(ge=1)
    runtime: str
    image: str | None = None
    size: str | None = None
    status: SandboxStatus
    was_never_there: bool = False
    reason: str | None = None
    retryable: bool = False
    has_desktop: bool = True
    has_network: bool = True
    created_at: datetime
    expires_at: datetime
    idle_expires_at: datetime
    revision: int = 1
    notice: str | None = None
    disk_notice: str | None = None
    disk_revision: int = 0
    disk_fill: str | None = None
    disk_limit_mb: int = 0
    queue_position: int | None = None
    queue_reason: Literal["capacity", "user_limit"] | None = None


class SandboxSize(BaseModel):
    """The resources of a sandbox; a disk of 0 has no limit."""

    cpus: float
    memory_mb: int
    disk_mb: int


class ImageChoice(BaseModel):
    """An image by its name; one that is not `available` has the reason, and what to do."""

    name: str
    image: str
    available: bool
    reason: str | None = None


class SizeChoice(BaseModel):
    """A size by its name. A sandbox of it counts as several in the limits on how many there may be."""

    name: str
    size: SandboxSize
    counts_as: int = 1


class SandboxChoices(BaseModel):
    """The choices that the deployment allows beside the default."""

    default_size: SandboxSize
    images: list[ImageChoice]
    sizes: list[SizeChoice]


class SandboxStats(BaseModel):
    """The present resource use of one sandbox; null if the machine can't measure it. `cpu_s` is since its start."""

    id: str
    status: SandboxStatus
    cpu_s: float | None = None
    memory_bytes: int | None = None
    memory_limit_bytes: int | None = None
    pids: int | None = None
    disk_bytes: int | None = None
    unused_s: float | None = None


class ManagerStats(BaseModel):
    """All sandboxes of the deployment."""

    by_status: dict[str, int]
    users: int
    max_total: int
    free_memory_bytes: int | None = None


class SandboxList(BaseModel):
    """Answer of the list call."""

    items: list[Sandbox]


class TokenRequest(BaseModel):
    """Scopes and lifetime (seconds) of an endpoint token."""

    model_config = ConfigDict(extra="forbid")

    scopes: list[Scope] = Field(min_length=1)
    ttl_s: int = Field(default=300, ge=5, le=900)


class EndpointToken(BaseModel):
    """A signed token for one generation of one sandbox and the address of its tool API endpoint.

    `endpoint`, named "door" in JSON, is `http://host:port` or `unix:/absolute/path.sock`: the manager makes that socket
    in a folder no sandbox sees, and the connecting side refuses symlinks all the same. Anything that runs in the
    sandbox may answer there.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    token: str
    expires_at: datetime
    endpoint: str = Field(validation_alias="door", serialization_alias="door")
    sandbox_id: str
    generation: int


KEEP_SCOPE = "keep"
"""The scope of the managers' own tokens, by which they signal that they watch over a sandbox. Only managers can have
it."""

TOKEN_ALGORITHM = "ES256"
TOKEN_AUDIENCE = "tool-api"

# A sandbox booted for the pool has generation 0: its endpoint accepts only tokens that also carry this scope. The first
# of them binds the sandbox to the token's generation for good, and has a claim of its own with the sandbox's end (Unix
# seconds).
UNCLAIMED = 0
CLAIM_SCOPE = "claim"
CLAIM_END = "end"


class KeepAlive(BaseModel):
    """The message of a manager to a sandbox it keeps, to the endpoint or on standard input: a token of its own."""

    keep: str = Field(max_length=4096)


class KeptAlive(BaseModel):
    """The sandbox's answer: the seconds since its last use, the size of its workspace in bytes and in files, once it
    was measured, and whether nobody has claimed it yet and its desktop's processes are paused."""

    unused_s: float = Field(ge=0, le=1e9, allow_inf_nan=False)
    disk_bytes: int | None = Field(default=None, ge=0, le=2**63 - 1)
    disk_files: int | None = Field(default=None, ge=0, le=2**63 - 1)
    resting: bool = False
