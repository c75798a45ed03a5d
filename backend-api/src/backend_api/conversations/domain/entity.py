"""Sessions and runs: a person's conversations, and the work that answers a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NewType

from backend_api.agent.events import Event
from backend_api.agent.options import NO_OPTIONS, Options
from backend_api.kit.ids import SessionId, UserId

RunId = NewType("RunId", str)

MAX_MESSAGE_CHARACTERS = 100_000
MAX_TITLE_CHARACTERS = 200


class SessionStatus(StrEnum):
    IDLE = "idle"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"

    @property
    def is_end(self) -> bool:
        """Whether the run is over."""
        return self in _ENDS


_ENDS = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.STOPPED, RunStatus.INTERRUPTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation with its own sandbox. `updated_at` changes with everything, `active_at` with messages of the user
    or the agent. `last_seq` is the number of its last stored event, 0 for none; `unread` counts the agent's messages
    after `read_seq`, the user's read marker; `failed`: the last run that ended failed or was interrupted, after that
    marker; `sandbox` is the last known status of its sandbox; `target_id` is the
    computer that its user chose for it, None for the usual one."""

    id: SessionId
    user_id: UserId
    title: str
    status: SessionStatus
    model: str | None
    preset: str | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    pinned: bool = False
    archived: bool = False
    folder_id: str | None = None
    target_id: str | None = None
    created_at: datetime
    updated_at: datetime
    active_at: datetime
    last_seq: int = 0
    read_seq: int = 0
    unread: int = 0
    failed: bool = False
    sandbox: str | None = None
    active_run_id: RunId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The work that answers a message and those sent while it runs. It is never marked running without a worker. A run
    that began without a message has no `message_id`.

    `attempt` counts the workers that took it, `releases` those that returned it in good order."""

    id: RunId
    session_id: SessionId
    user_id: UserId
    message_id: str | None
    status: RunStatus
    attempt: int = 0
    releases: int = 0
    stop_requested: bool = False
    worker: str | None = None
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    reason: str | None = None
    retryable: bool = False
    request_id: str | None = None
    trace: str | None = None
    """`request_id` and `trace` are those of the request that brought the message; the run continues under them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxMessage:
    """A person's request to an active run, stored for the worker that holds it. `number` counts within the run; `seq`
    is the last event at the time: a redirect is the message with that number, a stop covers all up to it."""

    number: int
    kind: Literal["stop", "redirect"]
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to write into a run's session, which one worker has at a time. `fence` grows with every claim; a writer
    with an older one is refused. `has_begun_before`: a worker held the run before; `taken_over`: that worker was still
    running it, and handed it over or lost it. `asked_at` is when this process requested the lease, in seconds of its
    monotonic clock: it was granted no earlier, so it is valid at least until its length after that. `options` are the
    session's own; `is_named`: the session has a title; `is_title_due`: that title is to be improved; `has_settings`:
    its user has any; `messages` are those in its inbox."""

    run: Run
    worker: str
    fence: int
    has_begun_before: bool
    asked_at: float
    taken_over: bool = False
    options: Options = NO_OPTIONS
    is_named: bool = False
    is_title_due: bool = False
    has_settings: bool = False
    messages: tuple[InboxMessage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimant:
    """A worker with a free slot, ready to take a run at the moment it is queued. `model` is recorded if the session
    chose none. If it `is_elsewhere`, it has to confirm the lease."""

    worker: str
    lease_s: float
    model: str
    is_elsewhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The answer to a message: its run and its number in the stream; `events` are those stored, empty for a duplicate.
    `lease` is the claimant's right to the run, None if it did not get it."""

    message_id: str
    run_id: RunId
    seq: int
    duplicate: bool
    events: tuple[Event, ...] = ()
    lease: Lease | None = None
