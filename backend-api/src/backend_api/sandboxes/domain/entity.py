"""The sandbox of a session as the gateway knows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal


class Scope(StrEnum):
    """Permitted uses of an endpoint token."""

    EXEC = "exec"
    FILES = "files"
    BROWSER = "browser"
    VNC_VIEW = "vnc:view"
    VNC_CONTROL = "vnc:control"
    PORTS = "ports"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """A sandbox that is ready. `generation` tells a rebuilt one from its predecessor. One that `is_remote_host` is a
    machine of the user's that no manager started: it has shells and files, and no endpoint."""

    id: str
    session_id: str
    generation: int
    has_desktop: bool
    has_network: bool
    expires_at: datetime
    is_remote_host: bool = False


QueueReason = Literal["capacity", "user_limit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxStatus:
    """The present state for the UI: none, starting, ready, paused, failed or gone, with the reason.

    A sandbox in the queue is `starting` with a `queue_position`, 1 for the next one to start, and a `queue_reason`: it
    waits for room, or for its user to have fewer running. `notice` warns that the sandbox ends soon, at `ends_at`
    unless it is used, at `expires_at` in any case. `generation` tells it from its predecessors, 0 if there is no
    sandbox.
    """

    status: str
    generation: int = 0
    reason: str | None = None
    retryable: bool = False
    has_desktop: bool = True
    expires_at: datetime | None = None
    ends_at: datetime | None = None
    queue_position: int | None = None
    queue_reason: QueueReason | None = None
    notice: str | None = None
