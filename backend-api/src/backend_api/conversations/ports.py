"""What sessions, runs and their stream need from the outside: one file, as all of them give numbers of one stream.

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
from backend_api.agent.path import WHOLE, Path
from backend_api.agent.recorded import Body, Recorded
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
    """Sessions of users. `get` raises `SessionNotFoundError` for a foreign id as for an unknown one."""

    async def add(self, session: Session, *, at_most: int = 0) -> None:
        """Raises `SessionQuotaError` when its user has `at_most` already; 0 is any number."""
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
        """Newest first; those of one folder, and archived ones or the others alone, where that is asked for. Raises
        `InvalidError` for a cursor that is not ours."""
        ...

    async def update(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Session:
        """Set title, model, pinned, archived, and single options; an option of None is taken back."""
        ...

    async def change(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Changed:
        """`update`, and in the same transaction store the event that tells what the session is then. What changes
        nothing stores nothing."""
        ...

    async def name(self, session_id: SessionId, user_id: UserId, title: str) -> Changed:
        """`change` the title of a session that has none, and have a better one due; any other one is left alone."""
        ...

    async def delete(self, session_id: SessionId, user_id: UserId) -> None:
        """Remove the session with its events, bodies and runs, and leave the wish to remove its sandbox."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A stored event. `output` is what the model read of a result, None where that is its preview."""

    event: Event
    output: str | None = None


class EventLog(Protocol):
    """The one ordered stream of a session, as stored. With a `path` only its events are read, and those that hold on
    every path (`BESIDE_PATHS`)."""

    async def path(self, session_id: SessionId, *, up_to: int | None = None) -> Path:
        """The one that is shown, as of its end or of the event `up_to`."""
        ...

    async def append(self, session_id: SessionId, payloads: Sequence[StoredPayload]) -> list[Event]:
        """Store events that belong to no run's writer (files changed by the user, session updated, sandbox updated)."""
        ...

    async def read(
        self, session_id: SessionId, *, after: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> list[Event]:
        """Events with seq > after, in order, at most `limit`, and but the first one only up to `most` bytes."""
        ...

    async def read_back(
        self, session_id: SessionId, *, before: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> list[Event]:
        """The last `limit` events with seq < before, in order, and but the last one only up to `most` bytes."""
        ...

    async def read_entries(
        self, session_id: SessionId, *, after: int, limit: int, most: int | None = None, path: Path = WHOLE
    ) -> tuple[list[Entry], bool]:
        """The same events as `read`, with what a model read of them, and whether they are all there are."""
        ...

    async def heads(self, session_ids: Sequence[SessionId]) -> dict[SessionId, int]:
        """The last number of each session that exists."""
        ...

    async def body(self, session_id: SessionId, seq: int) -> Body:
        """Raises `EventBodyNotFoundError`."""
        ...


class Transcripts(Protocol):
    """What was said in a session, without the work between. Of the path that is shown alone."""

    async def messages(self, session_id: SessionId, *, up_to: int, limit: int, most: int | None = None) -> list[Event]:
        """The last user messages and answers with seq <= `up_to`, in order, and but the last one only up to `most`
        bytes."""
        ...

    async def beginning(self, session_id: SessionId, *, limit: int, most: int | None = None) -> list[Event]:
        """The first of them, and but the first one only up to `most` bytes."""
        ...

    async def plan(self, session_id: SessionId, *, up_to: int) -> PlanUpdated | None:
        """The agent's plan as it was last told with seq <= `up_to`, None where there was none."""
        ...

    async def tasks(self, session_id: SessionId, *, up_to: int) -> list[Task]:
        """The session's tasks with seq <= `up_to`."""
        ...

    async def todos(self, session_id: SessionId, *, up_to: int) -> list[Todo]:
        """The main agent's own working list with seq <= `up_to`, empty where it has none."""
        ...

    async def usage(self, session_id: SessionId) -> Usage:
        """Tokens of all runs that ended."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A wait that ended; `is_queued` where its run waits for nothing more."""

    session_id: SessionId
    run_id: RunId
    is_queued: bool
    events: Sequence[Event]


class RunLedger(Protocol):
    """Runs and their leases. Every writing call is one transaction over session, run and events: more than seven
    methods, as each is a step of the same state machine, and one contract suite tries all of them against each other.
    """

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
        """Store a message; queue a run unless one is active, which then answers it too. One that interrupts leaves a
        redirect in the inbox of a run at work, and ends all that a run waits for, which is queued again; any other one
        leaves a run waiting, and is read once that goes on.

        One that is `alone` begins a run of its own or is not stored: `NotAloneError` where a run is active.

        A run queued here is leased to the `claimant`, if there is one, and run.started recorded with it.

        The same `client_message_id` again answers the first acceptance with `duplicate` true. Raises
        `MessageDiffersError` where the message is another one, and `TooManyWaitingError` when too many messages wait
        that no model has read; nothing is written then.
        """
        ...

    async def resume(self, session_id: SessionId, user_id: UserId, run_id: RunId, note: ContextNote) -> list[Event]:
        """Queue a run without a message that goes on from where this one ended, and record the note for its model.
        Raises `NothingToResumeError` unless it is the session's last one and ended before it was done."""
        ...

    async def compact(self, session_id: SessionId, user_id: UserId, wanted: CompactionWanted) -> list[Event]:
        """Record that the conversation is to be summed up, and queue a run for it unless one is active, which then does
        so before its next answer. Raises `NothingToCompactError`."""
        ...

    async def claim(self, worker: str, *, lease_s: float, model: str, run_id: RunId | None = None) -> Lease | None:
        """Take the oldest queued run, or one whose lease lapsed, and record run.started; None when there is none.
        With `run_id` that one or none.

        `model` names the model recorded where the session chose none.
        """
        ...

    async def confirm(self, run_id: RunId, worker: str, *, lease_s: float) -> Lease | None:
        """Take up the lease that a run was accepted with for this worker, in another process, and make it last. None
        where it was taken up before, or lapsed and was claimed."""
        ...

    async def lapsed(self, run_ids: Sequence[RunId]) -> list[RunId]:
        """Those of these runs whose lease lapsed and that nobody has taken since."""
        ...

    async def renew(self, lease: Lease, *, lease_s: float) -> Sequence[InboxMessage]:
        """Heartbeat; answers what lies in the run's inbox, in order. Raises `LeaseLostError`."""
        ...

    async def record(self, lease: Lease, items: Sequence[Recorded], *, handled: int = 0) -> list[Event]:
        """Store events of the run, and take its inbox's messages up to the number `handled` out.
        Raises `LeaseLostError` when fenced out, and `TasksEditedError` where tasks among them lack a change of the
        person; nothing is written then."""
        ...

    async def finish(
        self, lease: Lease, finished: RunFinished, *, seen_seq: int, said: Sequence[Recorded] = ()
    ) -> list[Event]:
        """Store what was `said` last, end the run and free the session. Answers the run's stored events, its end the
        last. Raises `LeaseLostError`.

        A run that ends by itself (`RunFinished.is_by_itself`) while a user message stands after `seen_seq` does not:
        nothing is written, the answer is empty, and the caller goes on. Any other ending queues a run of its own, in
        the same transaction, for a message that stands after both `seen_seq` and the run's start."""
        ...

    async def wait(self, lease: Lease, waits: Sequence[Wait], *, read_seq: int) -> list[Event]:
        """Store what is waited for and tell of it, and free lease and slot: the run waits. Raises
        `WaitRefusedError` where a stop lies in the inbox, or a message that interrupts and stands after `read_seq`, the
        last one that the model was given. Else `LeaseLostError`."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the run back: whoever claims next has it at once, and nobody renews this lease again. Raises
        `LeaseLostError`."""
        ...

    async def request_stop(self, session_id: SessionId, user_id: UserId, run_id: RunId | None = None) -> Run | None:
        """Leave a stop in the inbox of the active run; a queued one is finished as stopped at once. None when the
        session is idle, or does something else than `run_id`."""
        ...

    async def get(self, run_id: RunId) -> Run | None: ...


class Waits(Protocol):
    """Ends waits of runs, each exactly once, whoever else tries at the same moment: a message that interrupts
    ends them by `RunLedger.accept`, a stop by `RunLedger.request_stop`. A run whose last wait ends is queued again."""

    async def answer(self, session_id: SessionId, user_id: UserId, wait_id: str, answer: Answer) -> Resolved:
        """Raises `SessionNotFoundError`, `QuestionNotFoundError` or `ApprovalNotFoundError`, `QuestionAnsweredError` or
        `ApprovalDecidedError` where it is over already or its deadline has passed by the store's clock, and
        `InvalidError` for an answer it does not allow."""
        ...

    async def due(self) -> Sequence[RunId]:
        """Runs with a wait whose deadline has passed, by the store's clock."""
        ...

    async def expire(self, run_id: RunId) -> Resolved | None:
        """End this run's waits whose deadline has passed; None when there are none. A run whose session is gone, which
        can't go on, is over."""
        ...


class StreamListener(Protocol):
    """Who is told of a stream as it goes on."""

    def deliver(self, events: Sequence[Event]) -> None:
        """Stored events and live text, as they come: possibly with gaps and duplicates."""
        ...

    def restored(self) -> None:
        """Something may have been lost; `SessionStream.texts` has the text so far."""
        ...


class SessionStream(Protocol):
    """The sessions' streams, on both sides: what is stored is appended, what is live is shown, whoever listens is told.
    Best effort: every method survives the loss of its backend. Pieces come and go as they are: offsets are counted
    and pieces merged by the writer (`RunStream`) and by the reader (`FollowEvents`) alone."""

    async def append(self, session_id: SessionId, events: Sequence[Event]) -> None:
        """Tell of stored events, and of live ones that go along. Texts they hold in full are forgotten."""
        ...

    async def show(self, session_id: SessionId, run_id: RunId, payload: LivePayload) -> None:
        """Tell of text as it is written, and keep the text so far for who comes late."""
        ...

    def forget(self, session_id: SessionId, texts: Collection[TextKey]) -> None:
        """Drop what this process keeps of texts whose writer lost its run: it does not hear how they end."""
        ...

    def listen(self, session_id: SessionId, listener: StreamListener) -> AbstractAsyncContextManager[None]:
        """Inside, `listener` is told. Entering has subscribed."""
        ...

    async def texts(self, session_id: SessionId) -> list[Event]:
        """The text so far of all that is being written, each from offset 0."""
        ...


class Slot(Protocol):
    """A free slot of a worker, held for one run."""

    @property
    def claimant(self) -> Claimant: ...

    def release(self) -> None:
        """Give the slot back."""
        ...

    async def begin_run(self, accepted: Accepted) -> None:
        """Have the run driven that was accepted with a lease. Telling readers of its events is the caller's."""
        ...


class Slots(Protocol):
    """Those of workers, for runs that begin in the moment in which their message is accepted."""

    def reserve(self, session_id: SessionId) -> Slot | None:
        """Hold a slot, and in this process begin to read what was said so far, unless it is known; None when none is
        free."""
        ...


class BackgroundWork(Protocol):
    """What goes on in the background of a session, beside its runs."""

    async def all(self, session_id: SessionId, user_id: UserId) -> None:
        """End all of it. Raises `SessionNotFoundError`."""
        ...
