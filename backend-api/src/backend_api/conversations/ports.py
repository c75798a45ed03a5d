"""The ports of sessions, runs and their stream, in one file, since all of them assign numbers of one stream.

The store is the truth; the live channel may be emptied at any moment. Each method that stores events gives them the
session's next numbers, without holes, in one transaction with the state it changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from backend_api.agent.events import (
    CompactionWanted,
    ContextNote,
    Event,
    LivePayload,
    MessageUser,
    PlanUpdated,
    RunFinished,
    StoredPayload,
    Task,
    Todo,
    Usage,
)
from backend_api.agent.new_events import Body, NewEvent
from backend_api.agent.path import WHOLE, Path
from backend_api.agent.waits import Answer, Wait
from backend_api.conversations.domain.entity import Accepted, Claimant, InboxMessage, Lease, Run, RunId, Session
from backend_api.conversations.domain.live_text import TextKey
from backend_api.conversations.domain.session_changes import Changed
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    items: list[Session]
    next_cursor: str | None


class SessionRepository(Protocol):
    """Sessions of users. `get` raises `SessionNotFoundError` for another user's id as for an unknown one."""

    async def add(self, session: Session, *, at_most: int = 0) -> None:
        """Adds a session. Raises `SessionQuotaError` if its user has `at_most` already; 0 for any number."""
        ...

    async def get(self, session_id: SessionId, user_id: UserId) -> Session: ...

    async def page(
        self,
        user_id: UserId,
        *,
        limit: int,
        cursor: str | None,
        query: str | None,
        folder_id: str | None = None,
        archived: bool | None = None,
    ) -> SessionPage:
        """A page of sessions, newest first; optionally only those of one folder, and only archived ones or the others.
        Raises `InvalidError` for an invalid cursor."""
        ...

    async def update(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Session:
        """Sets title, model, pinned, archived, and single options; an option of None is reset."""
        ...

    async def change(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Changed:
        """Like `update`, and stores an event with the session's new state in the same transaction. Without a change
        nothing is stored."""
        ...

    async def name(self, session_id: SessionId, user_id: UserId, title: str) -> Changed:
        """Sets the title of a session that has none, like `change`, and makes a better one due; any other title is left
        alone."""
        ...

    async def delete(self, session_id: SessionId, user_id: UserId) -> None:
        """Removes the session with its events, bodies and runs, and records that its sandbox has to be removed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A stored event. `output` is the text the model read of a result, None if that is its preview."""

    event: Event
    output: str | None = None


class EventLog(Protocol):
    """The one ordered stream of a session, as stored. With a `path`, only its events and those valid on every path
    (`BESIDE_PATHS`) are read."""

    async def path(self, session_id: SessionId, *, up_to: int | None = None) -> Path:
        """The shown path, as of the stream's end or of the event `up_to`."""
        ...

    async def append(self, session_id: SessionId, payloads: Sequence[StoredPayload]) -> list[Event]:
        """Stores events that belong to no run's writer (files changed by the user, session updated, sandbox
        updated)."""
        ...

    async def read(
        self, session_id: SessionId, *, after: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> list[Event]:
        """The events with seq > after, in order, at most `limit`; those after the first only up to `most` bytes."""
        ...

    async def read_back(
        self, session_id: SessionId, *, before: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> list[Event]:
        """The last `limit` events with seq < before, in order; those before the last only up to `most` bytes."""
        ...

    async def read_entries(
        self, session_id: SessionId, *, after: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> tuple[list[Entry], bool]:
        """The same events as `read`, with the texts a model read of them, and whether there are no more."""
        ...

    async def heads(self, session_ids: Sequence[SessionId]) -> dict[SessionId, int]:
        """The last number of each session that exists."""
        ...

    async def body(self, session_id: SessionId, seq: int) -> Body:
        """The body of an event. Raises `EventBodyNotFoundError`."""
        ...


class Transcripts(Protocol):
    """The messages of a session on its shown path, without the work between."""

    async def messages(self, session_id: SessionId, *, up_to: int, limit: int, most: int | None = None) -> list[Event]:
        """The last user messages and answers with seq <= `up_to`, in the order in which they are shown (`ShownOrder`);
        those before the last only up to `most` bytes."""
        ...

    async def beginning(self, session_id: SessionId, *, limit: int, most: int | None = None) -> list[Event]:
        """The first messages; those after the first only up to `most` bytes."""
        ...

    async def plan(self, session_id: SessionId, *, up_to: int) -> PlanUpdated | None:
        """The agent's last plan with seq <= `up_to`, or None."""
        ...

    async def tasks(self, session_id: SessionId, *, up_to: int) -> list[Task]:
        """The session's tasks with seq <= `up_to`."""
        ...

    async def todos(self, session_id: SessionId, *, up_to: int) -> list[Todo]:
        """The main agent's own working list with seq <= `up_to`, empty if it has none."""
        ...

    async def usage(self, session_id: SessionId) -> Usage:
        """The tokens of all runs that ended."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A wait that ended; `is_queued`: its run waits for nothing more."""

    session_id: SessionId
    run_id: RunId
    is_queued: bool
    events: Sequence[Event]


class RunLedger(Protocol):
    """Runs and their leases. Every writing call is one transaction over session, run and events. It has more than seven
    methods, as each is a step of the same state machine, and one contract suite tries all of them against each
    other."""

    async def accept(
        self,
        session_id: SessionId,
        user_id: UserId,
        message: MessageUser,
        *,
        claimant: Claimant | None = None,
        interrupt: bool = False,
        alone: bool = False,
    ) -> Accepted:
        """Stores a message; queues a run unless one is active, which then answers it too. A message that interrupts
        leaves a redirect in the inbox of an active run, and ends all that a waiting run waits for, which is queued
        again; any other one leaves a run waiting, and is read once that continues.

        A message that is `alone` begins a run of its own or is not stored: `NotAloneError` if a run is active. A run
        queued here is leased to the `claimant`, if there is one, and run.started recorded with it. The same
        `client_message_id` again returns the first acceptance with `duplicate` true. Raises `MessageDiffersError` if
        the message is another one, and `TooManyWaitingError` if too many messages are waiting that no model has read;
        nothing is written then.
        """
        ...

    async def resume(self, session_id: SessionId, user_id: UserId, run_id: RunId, note: ContextNote) -> list[Event]:
        """Queues a run without a message that continues where this one ended, and records the note for its model.
        Raises `NothingToResumeError` unless it is the session's last one and ended before it was done."""
        ...

    async def compact(self, session_id: SessionId, user_id: UserId, wanted: CompactionWanted) -> list[Event]:
        """Records a request for a compaction, and queues a run for it unless one is active, which then does it before
        its next answer. Raises `NothingToCompactError`."""
        ...

    async def claim(self, worker: str, *, lease_s: float, model: str, run_id: RunId | None = None) -> Lease | None:
        """Takes the oldest queued run, or one whose lease lapsed, and records run.started; None if there is none. With
        `run_id` that one or none.

        `model` is recorded if the session chose none.
        """
        ...

    async def confirm(self, run_id: RunId, worker: str, *, lease_s: float) -> Lease | None:
        """Confirms the lease that a run was accepted with for this worker, in another process, and extends it. None if
        it was confirmed before, or lapsed and was claimed."""
        ...

    async def lapsed(self, run_ids: Sequence[RunId]) -> list[RunId]:
        """The runs among these whose lease lapsed and that nobody has taken since."""
        ...

    async def renew(self, lease: Lease, *, lease_s: float) -> Sequence[InboxMessage]:
        """Heartbeat; returns the messages in the run's inbox, in order. Raises `LeaseLostError`."""
        ...

    async def record(self, lease: Lease, items: Sequence[NewEvent], *, handled: int = 0) -> list[Event]:
        """Stores events of the run, and removes its inbox's messages up to the number `handled`. Raises
        `LeaseLostError` if fenced out, and `TasksEditedError` if tasks among them lack a change of the person; nothing
        is written then."""
        ...

    async def take_messages(self, lease: Lease, seq: int) -> int:
        """Takes the session's messages up to the number `seq` for the model: from then on none can be withdrawn.
        Returns the number of the session's last `message.withdrawn`, 0 for none. Raises `LeaseLostError`."""
        ...

    async def finish(
        self, lease: Lease, finished: RunFinished, *, seen_seq: int, said: Sequence[NewEvent] = ()
    ) -> list[Event]:
        """Stores the last events, `said`, ends the run and frees the session. Returns the run's stored events, its end
        the last. Raises `LeaseLostError`.

        A run that ends by itself (`RunFinished.is_by_itself`) does not end if a user message follows `seen_seq`:
        nothing is written, the result is empty, and the caller continues. Any other ending queues a run of its own, in
        the same transaction, for a message that follows both `seen_seq` and the run's start."""
        ...

    async def wait(self, lease: Lease, waits: Sequence[Wait], *, read_seq: int) -> list[Event]:
        """Stores the waits and their events, and frees lease and slot: the run waits. Raises `WaitRefusedError` if the
        inbox has a stop, or a message that interrupts and follows `read_seq`, the last one that the model was given;
        otherwise `LeaseLostError`."""
        ...

    async def release(self, lease: Lease) -> None:
        """Returns the run: the next claim gets it at once, and this lease can't be renewed any more. Raises
        `LeaseLostError`."""
        ...

    async def request_stop(self, session_id: SessionId, user_id: UserId, run_id: RunId | None = None) -> Run | None:
        """Puts a stop in the inbox of the active run; a queued one is finished as stopped at once. None if the session
        is idle, or its active run is not `run_id`."""
        ...

    async def get(self, run_id: RunId) -> Run | None: ...


class Waits(Protocol):
    """Ends waits of runs, each exactly once, even with concurrent attempts: a message that interrupts ends them by
    `RunLedger.accept`, a stop by `RunLedger.request_stop`. A run whose last wait ends is queued again."""

    async def answer(self, session_id: SessionId, user_id: UserId, wait_id: str, answer: Answer) -> Resolved:
        """Answers a wait. Raises `SessionNotFoundError`, `QuestionNotFoundError` or `ApprovalNotFoundError`,
        `QuestionAnsweredError` or `ApprovalDecidedError` if it is over already or its deadline has passed by the
        store's clock, and `InvalidError` for an answer it does not allow."""
        ...

    async def due(self) -> Sequence[RunId]:
        """The runs with a wait whose deadline has passed, by the store's clock."""
        ...

    async def expire(self, run_id: RunId) -> Resolved | None:
        """Ends this run's waits whose deadline has passed; None if there are none. A run whose session is gone is
        ended."""
        ...


class StreamListener(Protocol):
    """A listener of a stream."""

    def deliver(self, events: Sequence[Event]) -> None:
        """Receives stored events and live text as they come, possibly with gaps and duplicates."""
        ...

    def restored(self) -> None:
        """Called when something may have been lost; `SessionStream.texts` has the text so far."""
        ...


class SessionStream(Protocol):
    """The sessions' streams, on both sides: stored events are appended, live ones shown, and all listeners notified.
    Best effort: every method survives the loss of its backend. Pieces are passed on as they are: only the writer
    (`RunStream`) and the reader (`FollowEvents`) count offsets and merge pieces."""

    async def append(self, session_id: SessionId, events: Sequence[Event]) -> None:
        """Sends stored events, and live ones that go with them. Texts they complete are dropped."""
        ...

    async def show(self, session_id: SessionId, run_id: RunId, payload: LivePayload) -> None:
        """Sends text as it is written, and keeps the text so far for late listeners."""
        ...

    def forget(self, session_id: SessionId, texts: Collection[TextKey]) -> None:
        """Drops what this process keeps of texts whose writer lost its run, since it gets no event of their end."""
        ...

    def listen(self, session_id: SessionId, listener: StreamListener) -> AbstractAsyncContextManager[None]:
        """Notifies `listener` during the block. Entering subscribes."""
        ...

    async def texts(self, session_id: SessionId) -> list[Event]:
        """The text so far of all texts being written, each from offset 0."""
        ...


class Slot(Protocol):
    """A free slot of a worker, held for one run."""

    @property
    def claimant(self) -> Claimant: ...

    def release(self) -> None:
        """Releases the slot."""
        ...

    async def begin_run(self, accepted: Accepted) -> None:
        """Starts the run that was accepted with a lease. The caller sends its events to readers."""
        ...


class Slots(Protocol):
    """The free slots of workers, for runs that begin the moment their message is accepted."""

    def reserve(self, session_id: SessionId) -> Slot | None:
        """Reserves a slot, and in this process begins to read the conversation so far, unless it is known; None if none
        is free."""
        ...


class BackgroundWork(Protocol):
    """The background work of a session, besides its runs."""

    async def all(self, session_id: SessionId, user_id: UserId) -> None:
        """Ends all of it. Raises `SessionNotFoundError`."""
        ...
