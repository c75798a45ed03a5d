"""The writes of a run: one after the other, each shown once it is stored."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace

from backend_api.agent.changed_files import add_changed
from backend_api.agent.events import (
    Event,
    FilesChanged,
    RunFinished,
    StoredPayload,
    TasksUpdated,
    ToolCalled,
    ToolFinished,
)
from backend_api.agent.journal import OpenMessage
from backend_api.agent.model_traces import TracedSoFar
from backend_api.agent.new_events import NewEvent
from backend_api.agent.open_agents import OpenAgents
from backend_api.agent.tasks import TaskBoard
from backend_api.agent.team import updated
from backend_api.agent.threads import subagent_of
from backend_api.agent.tool import Done
from backend_api.agent.waits import Wait
from backend_api.conversations.domain.entity import Lease
from backend_api.conversations.domain.errors import TasksEditedError
from backend_api.conversations.domain.model_call_quota import SessionCallQuota
from backend_api.conversations.ports import EventLog, RunLedger
from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.masking import Mask
from backend_api.runs.application.change_signal import ChangeSignal
from backend_api.runs.application.histories import History
from backend_api.runs.application.model_traces import ModelTraces
from backend_api.runs.application.open_answer import OpenAnswer
from backend_api.runs.application.open_calls import OpenCalls, items_of
from backend_api.runs.application.run_stream import RunStream
from backend_api.runs.application.serial_writes import serialized


class RunWrites:
    """Stores the output and actions of all agents of one leased run, and tracks what is still being written, so that a
    cut run is closed properly."""

    def __init__(
        self,
        lease: Lease,
        ledger: RunLedger,
        log: EventLog,
        live: RunStream,
        history: History,
        *,
        mask: Mask | None = None,
        kept: SessionCallQuota | None = None,
    ) -> None:
        """Set up the writes. With a `mask`, model calls are stored with their secrets masked, as far as `kept` has
        room."""
        self.traces = ModelTraces(self, mask or Mask(), is_on=mask is not None, kept=kept)
        self.tasks = TaskBoard(lambda: history.threads.main.tasks)
        self.calls = OpenCalls(lease.run, live, history, self.tasks)
        self.files: list[str] = []
        self.read_seq = 0
        """The number of the last message that the model was sent."""
        self.has_ended = False
        self.is_cut = False
        """Set while cancelled work may still be winding down: nothing is stored then."""
        self.uses_sandbox = asyncio.Event()
        """Set once a call that needs the sandbox is recorded, by whichever worker."""
        self.has_begun = live.has_shown
        """Set with the first text shown or the first record: work that can wait until then does not delay it."""
        self.changed = ChangeSignal()
        """Signals messages, beginnings and ends of agents that work side by side."""
        self.writing = asyncio.Lock()
        self.reading = asyncio.Lock()
        """Held while the history is read on."""
        self._lease = lease
        self._ledger = ledger
        self._log = log
        self._live = live
        self._history = history
        self._agents = OpenAgents()
        self._answer = OpenAnswer(live)

    def load(self) -> None:
        """Take over the unfinished work that the history shows of an earlier worker of the run."""
        threads, run_id = self._history.threads, self._lease.run.id
        self.files = [*threads.main.progress(run_id).files]
        for one in threads.progress(run_id):
            self.calls.load(one)
            if one.needs_sandbox:
                self.uses_sandbox.set()
        self._agents.load(threads, run_id)
        self.read_seq = threads.main.read_seq

    @property
    def traced_so_far(self) -> TracedSoFar:
        """The stored model calls of the session."""
        return self._history.threads.traced

    async def record_trace(self, item: NewEvent) -> Event | None:
        """Store a record of a model call, even if the call was just cut: nothing else depends on it."""
        async with self.writing:
            if self.has_ended:
                return None
            events = await self._ledger.record(self._lease, [item])
            self.add_stored(events)
        return events[0]

    async def wait(self, waits: Sequence[Wait]) -> None:
        """Store what the run waits for, and leave it. Raises `WaitRefusedError`."""
        await self.traces.flush()
        await self._store_waits(waits)

    @serialized
    async def _store_waits(self, waits: Sequence[Wait]) -> None:
        events = await self._ledger.wait(self._lease, waits, read_seq=self.read_seq)
        self.has_ended = True
        self.add_stored(events)

    async def record(self, payloads: Sequence[StoredPayload], *, handled: int = 0) -> None:
        """Store these in one step; inbox messages up to the number `handled` are marked as handled with them."""
        await self.record_items([NewEvent(payload=payload) for payload in payloads], handled=handled)

    async def record_result(self, finished: ToolFinished, outcome: Done) -> None:
        """Store the end of a call, its long body beside it, and the files it changed."""
        await self.record_items(items_of(finished, outcome))

    @serialized
    async def record_items(self, items: Sequence[NewEvent], *, handled: int = 0) -> None:
        """Store these in one step."""
        await self._write(items, handled)

    def open_message(self, message: OpenMessage, preface: Sequence[NewEvent] = ()) -> None:
        """The main agent's next message is being written; `preface` is stored right before it."""
        self.read_seq = message.seen_seq
        self._answer.begin(message, preface)

    @serialized
    async def close_open(self, reason: str, *extra: StoredPayload, cancelled: bool = False) -> None:
        """Store open work as far as it came: the text as partial, each call with its output so far and the reason."""
        await self._close_open(reason, *extra, cancelled=cancelled)

    @serialized
    async def cut(self, reason: str, *, handled: int) -> None:
        """Close open work; inbox messages up to the number `handled`, which led to this, are marked as handled with it.
        Work that still runs is cancelled if it wants to store anything, until `is_cut` is reset."""
        await self._close_open(reason, cancelled=True, handled=handled)
        # The cause is in the log, even if nothing was open and so nothing was written after it.
        self._history.is_just_committed = False
        self.tasks.forget_unrecorded()
        self.is_cut = True

    @serialized
    async def cut_calls_of(self, agent_id: str, reason: str) -> None:
        """Store the end of the open calls of one agent."""
        await self._cut_calls([call.called for call in self.calls.of(agent_id)], reason)

    @serialized
    async def cut_calls_of_others(self, reason: str) -> None:
        """Store the end of the open calls of all agents but the main one."""
        await self._cut_calls(self.calls.recorded_of_others(), reason)

    async def _cut_calls(self, calls: Sequence[ToolCalled], reason: str) -> None:
        if calls:
            await self._write(self.calls.cut(calls, reason, cancelled=True), 0)

    async def _close_open(self, reason: str, *extra: StoredPayload, cancelled: bool = False, handled: int = 0) -> None:
        items = [*self._answer.take(), *self.calls.cut_all(reason, cancelled=cancelled)]
        items += [NewEvent(payload=payload) for payload in extra]
        if items or handled:
            await self._write(items, handled)

    def store_with_end(self, said: Sequence[StoredPayload]) -> None:
        """Keep the finished last texts, to be stored with the end of the run or with what cuts it."""
        self._answer.hold(said)
        for payload in said:
            self._note(payload)

    async def finish(self, finished: RunFinished, *, seen_seq: int) -> bool:
        """End the run; False if a message that the model has not read prevents it."""
        await self.traces.flush()
        return await self._finish(finished, seen_seq=seen_seq)

    @serialized
    async def _finish(self, finished: RunFinished, *, seen_seq: int) -> bool:
        said, team = self._answer.take_whole(), self._history.threads.team
        # If a message prevents the end, the team has not left.
        left = [NewEvent(payload=updated(one, "left", reason="run_ended")) for one in team.present()]
        events = await self._ledger.finish(self._lease, finished, seen_seq=seen_seq, said=[*said, *left])
        self.has_ended = bool(events)
        if not events and said:
            events = await self._ledger.record(self._lease, said)
        self._answer.drop_preface()
        self.add_stored(events, said)
        return self.has_ended

    async def written(self) -> None:
        """Wait until the write in progress is stored and published."""
        async with self.writing:
            return

    async def _write(self, items: Sequence[NewEvent], handled: int) -> None:
        self.has_begun.set()
        items = self._agents.with_ends(self._answer.with_preface(items), self.calls.at_work)
        while True:
            try:
                events = await self._ledger.record(self._lease, items, handled=handled)
                break
            except TasksEditedError:
                # The person was first: the agents' change is applied once more on top.
                await self._catch_up()
                items = [self._with_edits(item) for item in items]
        for item in items:
            self._note(item.payload)
        self.add_stored(events, items)
        if events and self._history.last_seq < (events[-1].seq or 0):
            # These are stored: what can't be read now is read before the model's next call.
            with contextlib.suppress(StoreUnavailableError):
                await self._catch_up()

    async def _catch_up(self) -> None:
        """Bring the history up to the end of the log. Where others have stored an event between two of this run's, the
        history has neither until then, and the team is driven by its former state."""
        version = self._history.threads.team.version
        async with self.reading:
            await self._history.read_on(self._log)
        if self._history.threads.team.version != version:
            self.changed.notify()

    def _with_edits(self, item: NewEvent) -> NewEvent:
        return replace(item, payload=self.tasks.known()) if isinstance(item.payload, TasksUpdated) else item

    def add_stored(self, events: Sequence[Event], items: Sequence[NewEvent] = ()) -> None:
        """Show stored events, and add them to the history with the outputs that the model reads."""
        threads = self._history.threads
        version = threads.team.version
        self._history.add_committed(events, [item.output for item in items])
        if threads.team.version != version or any(isinstance(event.payload, TasksUpdated) for event in events):
            self.changed.notify()
        if events:
            self._live.show_stored(events)

    def _note(self, payload: StoredPayload) -> None:
        self._agents.note(payload)
        self.calls.note(payload)
        self._answer.note(payload)
        match payload:
            case ToolCalled(needs_computer=True):
                self.uses_sandbox.set()
            case ToolFinished(call_id=call_id):
                self.traces.forget(subagent_of(call_id))
            case FilesChanged():
                add_changed(self.files, payload)
            case TasksUpdated():
                self.tasks.settle(payload)
            case _:
                pass
