"""An agent's share of the session's stream, as the loop reads and writes it."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import (
    ModelRole,
    StoredPayload,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.model import ModelError, NextAttempt
from backend_api.agent.new_events import NewEvent
from backend_api.agent.session_choices import SessionChoices
from backend_api.agent.tool import Delegate, Done, OpenCall, ToolCall
from backend_api.agent.waits import Wait


class LiveOutput(Protocol):
    """Text shown to people while it is written. It is live only, never blocks the loop, and may be lost."""

    def show_text(self, message_id: str, text: str) -> None:
        """Show more text of the open message."""
        ...

    def show_thinking(self, message_id: str, text: str) -> None:
        """Show more thinking."""
        ...

    def show_as_thinking(self, message_id: str, thinking_id: str | None, text: str) -> None:
        """Show `text`, the end of the open message, as thinking, or not at all if `thinking_id` is None. Later text of
        the message only appears once it is stored."""
        ...

    def show_context(self, used: int, size: int) -> None:
        """Show how full the model's window is."""
        ...

    def show_retry(self, error: ModelError, following: NextAttempt) -> None:
        """Show that an attempt at a model call failed, and when the next one follows."""
        ...


class OpenMessage(Protocol):
    """A message while it is written, the one place that holds its text."""

    @property
    def seen_seq(self) -> int:
        """The last event the model has read of."""
        ...

    def so_far(self) -> Sequence[StoredPayload]:
        """What there is of it and its thinking."""
        ...


class Journal(Protocol):
    """The agent's part of the log: events are stored before they are shown. More than seven methods, as one object
    knows what an agent has stored, what is open and what was used, and must account for all of it at once if the run is
    cut.

    Every method that stores raises `LeaseLostError` once another worker holds the run; nothing is written then.
    """

    @property
    def live(self) -> LiveOutput:
        """The live output for the agent's text while it is written."""
        ...

    async def conversation(self) -> Conversation:
        """The agent's conversation so far, with what arrived since the last call."""
        ...

    async def chosen(self) -> SessionChoices:
        """The session's latest choices."""
        ...

    async def undriven(self) -> SessionChoices:
        """Wait until no person controls the computer, and return the session's choices by then. Raises `DrainedError`
        if the run is to be given back first."""
        ...

    async def record(self, payloads: Sequence[StoredPayload]) -> None:
        """Store payloads in one step. A message recorded as completed is no longer open."""
        ...

    def record_items(self, items: Sequence[NewEvent]) -> Awaitable[None]:
        """Store payloads in one step, with the bodies beside them."""
        ...

    async def record_result(self, finished: ToolFinished, outcome: Done) -> None:
        """Store the end of a call, the long body of its outcome beside it, and the files it changed."""
        ...

    async def wait(self, waits: Sequence[Wait]) -> bool:
        """Store the waits and leave the run to whoever resolves them. Returns False if a stop came first, or an
        interrupting message that the model has not read: then the agent goes on, and its own waiting calls have their
        results."""
        ...

    def traced(self, model: ResolvedModel, role: ModelRole) -> ResolvedModel:
        """The same model; its calls are stored if the session has tracing on."""
        ...

    def counted(self, used: Usage, *, context: int = 0) -> UsageUpdated:
        """The event to record for a turn with this usage, which is added to the run's, whichever agent it is of.
        `context`: tokens in the model's window after it, as in `UsageUpdated`."""
        ...

    def answering(self) -> AbstractContextManager[None]:
        """A context that lasts while the model answers, until its usage is counted: the run's other agents see it in
        their `conversation`."""
        ...

    @property
    def others_at_work(self) -> int:
        """The current number, as in `Conversation`."""
        ...

    async def other_answered(self) -> None:
        """Wait until another agent of the run has finished its answer."""
        ...

    def dangling_calls(self) -> list[OpenCall]:
        """Calls of this agent in this run with a recorded start and no end, as of the last `conversation`."""
        ...

    def tool_call(self, called: ToolCalled, delegate: Delegate | None = None) -> AbstractContextManager[ToolCall]:
        """The call as its tool gets it, with `delegate` for work given to another agent. `todos` and `skills_read` are
        as of the last `conversation` or `chosen`, `tasks` include changes by calls since. The call is counted and
        traced while it works, its output is shown, and if the run is cut, its progress is known."""
        ...

    def open_message(self, message: OpenMessage, preface: Sequence[NewEvent] = ()) -> None:
        """Set the message being written: it is kept as partial if the run is cut. The `preface`, which the model is
        sent for it, is stored with the first part of it: before that nothing depends on it."""
        ...
