"""An agent's share of the session's stream, as the loop reads and writes it."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.chosen import SessionChoices
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import (
    MessageCompleted,
    ModelRole,
    StoredPayload,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.model import ModelError, NextAttempt
from backend_api.agent.recorded import Recorded
from backend_api.agent.tool import Delegate, Done, OpenCall, ToolCall
from backend_api.agent.waits import Wait


class LiveOutput(Protocol):
    """What people see while it is written. It travels live, never makes the loop wait, and may be lost."""

    def show_text(self, message_id: str, text: str) -> None:
        """More text of the open message."""
        ...

    def show_thinking(self, message_id: str, text: str) -> None:
        """More thinking."""
        ...

    def show_as_thinking(self, message_id: str, since: int, thinking_id: str | None) -> None:
        """The open message from its code point `since` on was thinking, which is not shown where that has no id. What
        is written of the message from here on is seen when it is stored."""
        ...

    def show_context(self, used: int, size: int) -> None:
        """How full the model's window is."""
        ...

    def show_retry(self, error: ModelError, following: NextAttempt) -> None:
        """An attempt to ask the model failed, and what it is asked again after is waited for."""
        ...


class Journal(Protocol):
    """What is recorded is stored before it is shown. More than seven methods, as one object knows of an agent what is
    stored, what is open, and what was used, and must answer for all of it at once should the run be cut.

    Every method that stores raises `LeaseLostError` once another worker holds the run; nothing is written then.
    """

    @property
    def live(self) -> LiveOutput:
        """Where the agent's text goes while it is written."""
        ...

    async def conversation(self) -> Conversation:
        """The agent's conversation so far, with what arrived since the last call."""
        ...

    async def chosen(self) -> SessionChoices:
        """What the session chose by now."""
        ...

    async def undriven(self) -> SessionChoices:
        """What the session chose by then, once no person controls the computer. Raises `DrainedError` where the run is
        to be given back first."""
        ...

    async def record(self, payloads: Sequence[StoredPayload]) -> None:
        """Store payloads in one step. A message recorded as completed is no longer open."""
        ...

    def record_items(self, items: Sequence[Recorded]) -> Awaitable[None]:
        """The same, with the bodies beside them."""
        ...

    async def record_result(self, finished: ToolFinished, outcome: Done) -> None:
        """Store the end of a call, the long body of its outcome beside it, and the files it changed."""
        ...

    async def wait(self, waits: Sequence[Wait]) -> bool:
        """Store what is waited for and leave the run to whoever resolves it. False where a stop came first, or an
        interrupting message that the model has not read: then the agent goes on, and its own calls that waited have
        their results."""
        ...

    def traced(self, model: ResolvedModel, role: ModelRole) -> ResolvedModel:
        """The same model, each of its calls stored where the session wants that."""
        ...

    def counted(self, used: Usage, *, context: int = 0) -> UsageUpdated:
        """What is to be recorded of a turn that used so much: added to the run's usage, whoever of its agents did.
        `context`: tokens in the model's window after it, as in `UsageUpdated`."""
        ...

    def answering(self) -> AbstractContextManager[None]:
        """While the model is asked, until what that used is counted: the run's other agents see it in their
        `conversation`."""
        ...

    @property
    def others_at_work(self) -> int:
        """By now, as in `Conversation`."""
        ...

    async def other_answered(self) -> None:
        """Until an answer that another agent of the run is at is over."""
        ...

    def dangling_calls(self) -> list[OpenCall]:
        """Calls of this agent in this run, recorded as starting and never as ended, as of the last `conversation`."""
        ...

    def tool_call(self, called: ToolCalled, delegate: Delegate | None = None) -> AbstractContextManager[ToolCall]:
        """The call as its tool gets it, with how its agent gives work to another one, and what is known of it: `todos`
        and `skills_read` as of the last `conversation` or `chosen`, `tasks` with what calls changed since. It is
        counted and traced while it is at work, what it writes shown; should the run be cut, it is known how far it
        came."""
        ...

    def open_message(self, message: MessageCompleted, preface: Sequence[Recorded] = ()) -> None:
        """The message now being written, of which only the text is still missing: kept as partial should the run be
        cut. What the model was told for it, the `preface`, is stored with the first of it that is: before that nothing
        depends on it."""
        ...
