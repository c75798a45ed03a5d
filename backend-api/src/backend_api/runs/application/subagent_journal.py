"""The journal of an agent that another agent began by a call, in the same run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TypeVar

from backend_api.agent.approvals import Approval
from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.conversation import Conversation, SubagentUsage
from backend_api.agent.events import (
    NO_USAGE,
    AgentEvent,
    ModelRole,
    StoredPayload,
    SubagentStarted,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.journal import OpenMessage
from backend_api.agent.new_events import NewEvent
from backend_api.agent.session_choices import SessionChoices
from backend_api.agent.threads import subagent_of
from backend_api.agent.tool import Delegate, Done, OpenCall, ToolCall
from backend_api.agent.usage import combine
from backend_api.agent.waits import Wait
from backend_api.runs.application.open_answer import is_answer_of
from backend_api.runs.application.run_journal import RunJournal

T = TypeVar("T", bound=StoredPayload)


class SubagentJournal:
    """`Journal` that marks what it stores and shows as this agent's. Its answer is shown while it is written; the
    answer of a cut agent is not kept, as its reader is the agent it works for."""

    def __init__(self, run: RunJournal, call_id: str, agent_id: str | None = None) -> None:
        """Set up the journal of `agent_id`, or else of the agent that works on the call."""
        self.agent_id = agent_id or subagent_of(call_id)
        self.live = run.live.of_agent(self.agent_id)
        self.usage = NO_USAGE
        """The agent's usage so far."""
        self.waits: Sequence[Wait] = ()
        """The agent's current waits."""
        self._call_id = call_id
        self._run = run
        self._preface: list[NewEvent] = []

    async def conversation(self) -> Conversation:
        thread, run_id = await self._run.thread(self.agent_id), self._run.lease.run.id
        progress, run = thread.progress(run_id), (await self._run.thread()).progress(run_id)
        self.usage = progress.usage
        # The agent uses the budget of the run.
        return replace(
            thread.conversation(run_id),
            usage=self._run.usage,
            worked=run.worked,
            last_at=run.last_at,
            turns_of_others=max(self._run.turns() - progress.last_turn, 0),
            chosen=self._run.known_choices(),
            others_at_work=self.others_at_work,
            own=SubagentUsage(
                calls=progress.calls,
                tokens=self.usage.new,
                worked=run.worked - run.worked_before.get(self.agent_id, run.worked),
            ),
        )

    async def chosen(self) -> SessionChoices:
        return await self._run.chosen()

    async def undriven(self) -> SessionChoices:
        return await self._run.undriven()

    async def started(self) -> SubagentStarted | None:
        """The record of its beginning; None if no worker began it."""
        return (await self._run.thread(self.agent_id)).started

    async def begin(self, started: SubagentStarted) -> None:
        """Record its task and its kind."""
        await self._run.writes.record([started])

    async def record(self, payloads: Sequence[StoredPayload]) -> None:
        await self.record_items([NewEvent(payload=payload) for payload in payloads])

    async def record_items(self, items: Sequence[NewEvent]) -> None:
        items = [replace(item, payload=self._with_agent_id(item.payload)) for item in items]
        if any(is_answer_of(item.payload, self.agent_id) for item in items):
            items, self._preface = [*self._preface, *items], []
        await self._run.writes.record_items(items)

    async def record_result(self, finished: ToolFinished, outcome: Done) -> None:
        events = [self._with_agent_id(payload) for payload in outcome.events]
        await self._run.writes.record_result(self._with_agent_id(finished), replace(outcome, events=events))

    async def wait(self, waits: Sequence[Wait]) -> bool:
        """Wait with the run, once all of its agents that can work have done so."""
        self.waits = [replace(wait, subject=self._own_approval(wait)) for wait in waits]
        return True

    def traced(self, model: ResolvedModel, role: ModelRole) -> ResolvedModel:
        return self._run.writes.traces.traced(model, role, self.agent_id)

    def counted(self, used: Usage, *, context: int = 0) -> UsageUpdated:
        self.usage = combine(self.usage, used)
        return replace(self._run.counted(used, context=context), agent_usage=self.usage)

    def answering(self) -> AbstractContextManager[None]:
        return self._run.answers_below.count_one()

    @property
    def others_at_work(self) -> int:
        return self._run.others_at_work

    async def other_answered(self) -> None:
        await self._run.other_answered()

    def dangling_calls(self) -> list[OpenCall]:
        return self._run.calls.of(self.agent_id)

    async def cut_open_calls(self, reason: str) -> None:
        """Store the end of its open calls."""
        await self._run.writes.cut_calls_of(self.agent_id, reason)

    def tool_call(self, called: ToolCalled, delegate: Delegate | None = None) -> AbstractContextManager[ToolCall]:
        return self._run.calls.tool_call(replace(called, agent_id=self.agent_id), delegate)

    def open_message(self, message: OpenMessage, preface: Sequence[NewEvent] = ()) -> None:
        del message
        self._preface = [replace(item, payload=self._with_agent_id(item.payload)) for item in preface]

    def _own_approval(self, wait: Wait) -> Approval:
        if not isinstance(wait.subject, Approval):
            raise TypeError("tools that ask the person are the main agent's alone, see `may_have`")
        return replace(wait.subject, agent_id=self.agent_id)

    def _with_agent_id(self, payload: T) -> T:
        if isinstance(payload, ToolCalled):
            return replace(payload, agent_id=self.agent_id, parent_call_id=self._call_id)
        return replace(payload, agent_id=self.agent_id) if isinstance(payload, AgentEvent) else payload
