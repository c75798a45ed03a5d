"""The journal of one run over the ledger, the log and its stream."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.changed_files import add_changed, changed_by
from backend_api.agent.chosen import SessionChoices
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import (
    NO_USAGE,
    ContextNote,
    ContextOpened,
    Event,
    FilesChanged,
    MessageCompleted,
    ModelRole,
    RunFinished,
    StoredPayload,
    TasksUpdated,
    ThinkingCompleted,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.mcp_servers import KnownMcpServer
from backend_api.agent.model_traces import TracedSoFar
from backend_api.agent.open_agents import OpenAgents
from backend_api.agent.recorded import Body, Recorded
from backend_api.agent.tasks import TaskBoard
from backend_api.agent.team import Team, updated
from backend_api.agent.thread import Thread
from backend_api.agent.threads import subagent_of
from backend_api.agent.tool import Delegate, Done, OpenCall, ToolCall
from backend_api.agent.usage import combine
from backend_api.agent.waits import Wait, WaitRefusedError
from backend_api.conversations.domain.entity import Lease
from backend_api.conversations.domain.errors import TasksEditedError
from backend_api.conversations.domain.kept_calls import KeptCallsOfSession
from backend_api.conversations.domain.live_text import MESSAGE, THINKING
from backend_api.conversations.ports import EventLog, RunLedger
from backend_api.kit import measures
from backend_api.kit.masking import Mask
from backend_api.runs.application.answer_count import AnswerCount
from backend_api.runs.application.change_signal import ChangeSignal, RunningTeam
from backend_api.runs.application.histories import History
from backend_api.runs.application.model_traces import ModelTraces
from backend_api.runs.application.open_calls import OpenCalls, result_of
from backend_api.runs.application.run_stream import RunStream

logger = logging.getLogger(__name__)

WRITE_GRACE_S = 0.3
LOOK_AGAIN_S = 0.25
"""Whether the person still controls the computer."""
P = ParamSpec("P")
T = TypeVar("T")


class DrainedError(Exception):
    """Raised between two steps of a run whose process ends."""


def _in_turn(
    write: Callable[Concatenate[RunJournal, P], Coroutine[None, None, T]],
) -> Callable[Concatenate[RunJournal, P], Coroutine[None, None, T]]:
    """One write after the other. A stop in the middle of one waits for its end: else nobody knows whether it was
    stored, or what is still open."""

    @wraps(write)
    async def in_turn(journal: RunJournal, *args: P.args, **kwargs: P.kwargs) -> T:
        async def alone() -> T:
            async with journal.writing:
                if journal.is_cut:
                    raise asyncio.CancelledError
                return await write(journal, *args, **kwargs)

        task = asyncio.ensure_future(alone())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task}, timeout=WRITE_GRACE_S)
            task.add_done_callback(_forget)
            raise

    return in_turn


class RunJournal:
    """`Journal` of a leased run and of its main agent. It knows what is open, of every agent, so that a cut run is
    closed properly."""

    def __init__(
        self,
        lease: Lease,
        ledger: RunLedger,
        log: EventLog,
        stream: RunStream,
        history: History | None = None,
        *,
        mask: Mask | None = None,
        kept: KeptCallsOfSession | None = None,
    ) -> None:
        """With a `mask` calls of models are stored, seen through it, as far as `kept` has room."""
        self.lease = lease
        self.traces = ModelTraces(self, mask or Mask(), is_on=mask is not None, kept=kept)
        self.usage = NO_USAGE
        self.files: list[str] = []
        self.seen_seq = 0
        """The last message in the conversation, which the model reads next where it has not."""
        self.read_seq = 0
        """The last one that the model was given."""
        self.has_ended = False
        self.is_cut = False
        """Set while work that was cut may still be winding down: nothing is stored then."""
        self.draining = asyncio.Event()
        """Once set, the run is given back before its next step."""
        self.loaded = asyncio.Event()
        self.is_named = asyncio.Event()
        if lease.is_named:
            self.is_named.set()
        self.uses_sandbox = asyncio.Event()
        """Set once a call that needs one was recorded, by whichever worker."""
        self.has_begun = stream.has_shown
        """Set with the first text shown or the first thing recorded: what can wait until then does not delay it."""
        self._ledger = ledger
        self._log = log
        self.live = stream
        self._is_lost = False
        self.writing = asyncio.Lock()
        self._reading = asyncio.Lock()
        self._history = history or History(lease.run.session_id)
        self.tasks = TaskBoard(lambda: self._history.threads.main.tasks)
        self.calls = OpenCalls(lease.run, stream, self._history, self.tasks)
        self._agents = OpenAgents()
        self.answers_below = AnswerCount()
        self._next_turn = self._begun_turn = 0
        """Of the main agent."""
        self.running_team: RunningTeam | None = None
        """Agents that work beside the main one."""
        self.changed = ChangeSignal()
        """Of what agents that work beside each other tell, and begin and end."""
        self._open_message: MessageCompleted | None = None
        self._unstored: list[StoredPayload] = []
        self._preface: list[Recorded] = []

    async def conversation(self) -> Conversation:
        thread = await self.thread()
        conversation = thread.conversation(
            self.lease.run.id, turns_of_others=self.answers_below.begun, others_at_work=self.others_at_work
        )
        self.seen_seq, self._next_turn = conversation.seen_seq, conversation.next_turn
        return conversation

    def turns(self) -> int:
        """Model calls that the run began, of all its agents."""
        recorded = self._history.threads.main.progress(self.lease.run.id).last_turn
        return max(recorded, self._begun_turn) + self.answers_below.begun

    def known_choices(self) -> SessionChoices:
        """Of the session, as far as it is read."""
        return self._history.threads.main.chosen

    async def chosen(self) -> SessionChoices:
        await self._read()
        return self.known_choices()

    async def undriven(self) -> SessionChoices:
        while (chosen := await self.chosen()).driver is not None:
            if self.draining.is_set():
                raise DrainedError
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN_S):
                    await self.draining.wait()
        return chosen

    @property
    def has_unread_messages(self) -> bool:
        """Whether something was said to the main agent since its last `conversation`."""
        return self._history.threads.main.seen_seq > self.seen_seq

    @property
    def team(self) -> Team:
        """Of the run, as far as known."""
        return self._history.threads.team

    def has_unread(self, agent_id: str) -> bool:
        """Whether something was said to one of the other agents that it has not read."""
        return self._history.threads.of(agent_id).has_unread

    def mcp_servers(self) -> Mapping[str, KnownMcpServer]:
        """What is known of each MCP server, as of the last `conversation`."""
        return self._history.threads.mcp

    async def thread(self, agent_id: str | None = None) -> Thread:
        """Of one agent, as recorded by now. Raises `DrainedError` where the run is to be given back."""
        if self.draining.is_set():
            raise DrainedError
        await self._read()
        return self._history.threads.of(agent_id)

    async def load(self) -> None:
        """Know what is open, where the run was cut before it read anything."""
        if not self.loaded.is_set():
            await self._read()
            self.seen_seq = self._history.threads.main.seen_seq

    async def _read(self) -> None:
        history, run_id = self._history, self.lease.run.id
        async with self._reading:
            is_known = history.is_just_committed if self.loaded.is_set() else history.ends_with_message
            history.is_just_committed = False
            if not is_known:
                await history.read_on(self._log)
            if not self.loaded.is_set():
                progress = history.threads.main.progress(run_id)
                self.usage, self.files = progress.usage, [*progress.files]
                self.answers_below.begun += progress.turns_below
                for one in history.threads.progress(run_id):
                    self.calls.load(one)
                    if one.needs_sandbox:
                        self.uses_sandbox.set()
                self._agents.load(history.threads, run_id)
                self.read_seq = history.threads.main.read_seq
                if not history.ends_with_message and history.started is not None:
                    self.live.show_stored([history.started])
                self.loaded.set()

    def first_message(self) -> str:
        """The session's first user message, as far as loaded."""
        return self._history.threads.main.first_message or ""

    def attempts_without_progress(self) -> int:
        """How often the run was begun since it last came a step further, as far as loaded."""
        return self._history.threads.main.progress(self.lease.run.id).attempts_without_progress

    async def wait(self, waits: Sequence[Wait]) -> bool:
        if self.running_team is not None:
            waits = [*waits, *await self.running_team.wait_until_idle()]
        if not await self._may_wait(waits) and self.running_team is not None:
            self.running_team.resume()
        return self.has_ended

    async def _may_wait(self, waits: Sequence[Wait]) -> bool:
        if not waits:
            return False
        try:
            await self._wait(waits)
        except WaitRefusedError as refused:
            by = refused.by
        else:
            return True
        # What an agent below waits for comes back when the call it works on is settled, unless that is all there is.
        own = [wait for wait in waits if wait.agent_id is None] or waits
        await self.record([result for wait in own for result in wait.subject.not_begun(by)])
        return False

    def traced(self, model: ResolvedModel, role: ModelRole) -> ResolvedModel:
        return self.traces.traced(model, role)

    @property
    def traced_so_far(self) -> TracedSoFar:
        """Model calls of the session that are stored."""
        return self._history.threads.traced

    async def record_trace(self, item: Recorded) -> Event | None:
        """Store what is told of a model call. Also of one that was just cut: nothing else is made of it."""
        async with self.writing:
            if self.has_ended:
                return None
            events = await self._ledger.record(self.lease, [item])
            self.add_stored(events)
        return events[0]

    async def _wait(self, waits: Sequence[Wait]) -> None:
        await self.traces.flush()
        await self._store_waits(waits)

    @_in_turn
    async def _store_waits(self, waits: Sequence[Wait]) -> None:
        events = await self._ledger.wait(self.lease, waits, read_seq=self.read_seq)
        self.has_ended = True
        self.add_stored(events)

    def counted(self, used: Usage, *, context: int = 0) -> UsageUpdated:
        self.usage = combine(self.usage, used)
        return UsageUpdated(usage=self.usage, context=context)

    def answering(self) -> AbstractContextManager[None]:
        self._begun_turn = self._next_turn
        return self.answers_below.count_leads()

    @property
    def others_at_work(self) -> int:
        return self.answers_below.at_work

    async def other_answered(self) -> None:
        await self.answers_below.wait_for_one()

    def dangling_calls(self) -> list[OpenCall]:
        return self.calls.of(None)

    def tool_call(self, called: ToolCalled, delegate: Delegate | None = None) -> AbstractContextManager[ToolCall]:
        return self.calls.tool_call(called, delegate)

    async def record(self, payloads: Sequence[StoredPayload], *, handled: int = 0) -> None:
        await self.record_items([Recorded(payload=payload) for payload in payloads], handled=handled)

    async def record_result(self, finished: ToolFinished, outcome: Done) -> None:
        body = None
        if outcome.body is not None:
            body = Body(content=outcome.body, media_type=outcome.body_media_type, parts=outcome.body_parts)
        items = [result_of(finished, outcome.output, body, outcome.read)]
        if (changed := changed_by(outcome)) is not None:
            items.append(Recorded(payload=changed))
        await self.record_items([*items, *(Recorded(payload=payload) for payload in outcome.events)])

    @_in_turn
    async def record_items(self, items: Sequence[Recorded], *, handled: int = 0) -> None:
        """Store these in one step."""
        await self._write(items, handled)

    def open_message(self, message: MessageCompleted, preface: Sequence[Recorded] = ()) -> None:
        self._preface, self._open_message, self.read_seq = [*preface], message, message.seen_seq
        self.live.open_message(message.seen_seq)

    @_in_turn
    async def close_open(self, reason: str, *extra: StoredPayload, cancelled: bool = False) -> None:
        """Store what is open as far as it came: the text as partial, each call with what it wrote and the reason."""
        await self._close_open(reason, *extra, cancelled=cancelled)

    @_in_turn
    async def cut(self, reason: str, *, handled: int) -> None:
        """Close what is open; with it go the inbox's messages up to the number `handled`, which led to this. What is
        still at work is cancelled, should it want to store anything, until `is_cut` is taken back."""
        await self._close_open(reason, cancelled=True, handled=handled)
        # What led to it stands in the log, also where nothing was open and so nothing was written after it.
        self._history.is_just_committed = False
        self.tasks.forget_unrecorded()
        self.is_cut = True

    @_in_turn
    async def cut_calls_of(self, agent_id: str, reason: str) -> None:
        """Store the end of what one agent has at work."""
        await self._cut_calls([call.called for call in self.calls.of(agent_id)], reason)

    @_in_turn
    async def cut_calls_of_others(self, reason: str) -> None:
        """Store the end of what all agents but the main one have at work."""
        await self._cut_calls(self.calls.recorded_of_others(), reason)

    async def _cut_calls(self, calls: Sequence[ToolCalled], reason: str) -> None:
        if calls:
            await self._write(self.calls.cut(calls, reason, cancelled=True), 0)

    async def _close_open(self, reason: str, *extra: StoredPayload, cancelled: bool = False, handled: int = 0) -> None:
        items = self._open(reason, cancelled=cancelled) + [Recorded(payload=payload) for payload in extra]
        self._open_message = None
        if items or handled:
            await self._write(items, handled)

    def _open(self, reason: str, *, cancelled: bool) -> list[Recorded]:
        message = self._open_message
        said, self._unstored = self._unstored, []
        if message is not None:
            said += [
                ThinkingCompleted(message_id=identifier, text=text, turn=message.turn, seen_seq=message.seen_seq)
                for identifier, text in self.live.open_texts(THINKING).items()
            ]
            text = self.live.open_texts(MESSAGE).get(message.message_id, "")
            if text or message.continuations:
                said.append(replace(message, text=text, partial=True))
        return [*(Recorded(payload=payload) for payload in said), *self.calls.cut_all(reason, cancelled=cancelled)]

    def store_with_end(self, said: Sequence[StoredPayload]) -> None:
        """What was said last is whole, and is stored with the end of the run or with what cuts it."""
        self._unstored += said
        for payload in said:
            self._note(payload)

    async def finish(self, finished: RunFinished, *, seen_seq: int) -> bool:
        """End the run; false when a message the model has not read stands in the way."""
        await self.traces.flush()
        return await self._finish(finished, seen_seq=seen_seq)

    @_in_turn
    async def _finish(self, finished: RunFinished, *, seen_seq: int) -> bool:
        unstored, self._unstored = self._unstored, []
        said = self._with_preface([Recorded(payload=payload) for payload in unstored])
        # Should a message stand in the way, they have not left.
        left = [Recorded(payload=updated(one, "left", reason="run_ended")) for one in self.team.present()]
        events = await self._ledger.finish(self.lease, finished, seen_seq=seen_seq, said=[*said, *left])
        self.has_ended = bool(events)
        if not events and said:
            events = await self._ledger.record(self.lease, said)
        self._preface = []
        self.add_stored(events, said)
        return self.has_ended

    async def written(self) -> None:
        """What was being written is stored, and told."""
        async with self.writing:
            return

    def lose(self) -> None:
        """Another worker has the run: said and counted once, whoever finds it out."""
        if not self._is_lost and not self.has_ended:
            self._is_lost = True
            self.live.forget()
            measures.LEASES_LOST.inc()
            logger.warning("run lost to another worker", extra={"run_id": self.lease.run.id})

    async def _write(self, items: Sequence[Recorded], handled: int) -> None:
        self.has_begun.set()
        items = self._agents.with_ends(self._with_preface(items), self.calls.at_work)
        while True:
            try:
                events = await self._ledger.record(self.lease, items, handled=handled)
                break
            except TasksEditedError:
                # The person was first: what the agents changed is made once more on that.
                async with self._reading:
                    await self._history.read_on(self._log)
                items = [self._with_edits(item) for item in items]
        for item in items:
            self._note(item.payload)
        self.add_stored(events, items)

    def _with_edits(self, item: Recorded) -> Recorded:
        return replace(item, payload=self.tasks.known()) if isinstance(item.payload, TasksUpdated) else item

    def add_stored(self, events: Sequence[Event], items: Sequence[Recorded] = ()) -> None:
        """Show what was stored, with what the model reads of it, and know it from now on."""
        version = self.team.version
        self._history.add_committed(events, [item.output for item in items])
        if self.team.version != version or any(isinstance(event.payload, TasksUpdated) for event in events):
            self.changed.notify()
        if events:
            self.live.show_stored(events)

    def _with_preface(self, items: Sequence[Recorded]) -> list[Recorded]:
        """What the model was told goes right before what it said then."""
        is_said = any(is_said_by(item.payload, None) for item in items)
        return [*self._preface, *items] if is_said else [*items]

    def _note(self, payload: StoredPayload) -> None:
        self.live.close(payload)
        self._agents.note(payload)
        self.calls.note(payload)
        match payload:
            case ToolCalled(agent_id=agent_id):
                if payload.needs_computer:
                    self.uses_sandbox.set()
                if agent_id is None:
                    # The texts of a turn are recorded together with its calls, an empty one not at all.
                    self._open_message = None
            case ToolFinished(call_id=call_id):
                self.traces.forget(subagent_of(call_id))
            case FilesChanged():
                add_changed(self.files, payload)
            case TasksUpdated():
                self.tasks.settle(payload)
            case MessageCompleted(agent_id=None):
                self._open_message = None
            case ContextOpened(agent_id=None) | ContextNote(agent_id=None):
                self._preface = []
            case _:
                pass


def is_said_by(payload: StoredPayload, agent_id: str | None) -> bool:
    """Whether it is a part of that agent's answer."""
    return isinstance(payload, MessageCompleted | ThinkingCompleted | ToolCalled) and payload.agent_id == agent_id


def _forget(task: asyncio.Task[T]) -> None:
    """Whoever would have been told of its failure has gone."""
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("a write failed after its run was left", extra={"reason": str(error)})
