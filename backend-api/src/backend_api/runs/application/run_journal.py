"""The journal of one run: what its agents read of it, on top of its writes, open calls and waits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import (
    NO_USAGE,
    ModelRole,
    StoredPayload,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.journal import OpenMessage
from backend_api.agent.mcp_servers import KnownMcpServer
from backend_api.agent.new_events import NewEvent
from backend_api.agent.session_choices import SessionChoices
from backend_api.agent.team import Team
from backend_api.agent.thread import Thread
from backend_api.agent.tool import Delegate, Done, OpenCall, ToolCall
from backend_api.agent.usage import combine
from backend_api.agent.waits import Wait
from backend_api.conversations.domain.entity import Lease
from backend_api.conversations.domain.model_call_quota import SessionCallQuota
from backend_api.conversations.ports import EventLog, RunLedger
from backend_api.kit import measures
from backend_api.kit.masking import Mask
from backend_api.runs.application.answer_count import AnswerCount
from backend_api.runs.application.histories import History
from backend_api.runs.application.run_stream import RunStream
from backend_api.runs.application.run_waits import DrainedError, RunWaits
from backend_api.runs.application.run_writes import RunWrites

logger = logging.getLogger(__name__)


class RunJournal:
    """`Journal` of a leased run and of its main agent: its `writes`, its open `calls`, its `waits`, and the
    conversations folded from them."""

    def __init__(
        self,
        lease: Lease,
        ledger: RunLedger,
        log: EventLog,
        stream: RunStream,
        history: History | None = None,
        *,
        mask: Mask | None = None,
        kept: SessionCallQuota | None = None,
    ) -> None:
        """Set up the journal. With a `mask`, model calls are stored with their secrets masked, as far as `kept` has
        room."""
        self.lease = lease
        self.live = stream
        self._history = history or History(lease.run.session_id)
        self.writes = RunWrites(lease, ledger, log, stream, self._history, mask=mask, kept=kept)
        self.calls = self.writes.calls
        self.tasks = self.writes.tasks
        self.waits = RunWaits(self.writes, self.chosen)
        self.usage = NO_USAGE
        self.seen_seq = 0
        """The number of the last message in the conversation; the model reads it next unless it has."""
        self.loaded = asyncio.Event()
        self.is_named = asyncio.Event()
        if lease.is_named:
            self.is_named.set()
        self.answers_below = AnswerCount()
        self._log = log
        self._ledger = ledger
        self._taken_seq = 0
        """The number of the last message taken for the model."""
        self._is_lost = False
        self._next_turn = self._begun_turn = 0
        """Turn numbers of the main agent: the next one, and that of the last call."""

    async def conversation(self) -> Conversation:
        await self.thread()
        await self._take_unread()
        conversation = self._history.threads.main.conversation(
            self.lease.run.id, turns_of_others=self.answers_below.begun, others_at_work=self.others_at_work
        )
        self.seen_seq, self._next_turn = conversation.seen_seq, conversation.next_turn
        return conversation

    async def _take_unread(self) -> None:
        """Take the person's unread messages for the model, so that they can't be withdrawn any more, without those
        that were withdrawn before. The message for which the run began can never be withdrawn."""
        while (last := self._history.threads.main.last_unread(but=self.lease.run.message_id)) > self._taken_seq:
            withdrawn = await self._ledger.take_messages(self.lease, last)
            self._taken_seq = last
            while self._history.last_seq < withdrawn:
                self._history.is_just_committed = False
                await self._read()

    def turns(self) -> int:
        """How many model calls the run has begun, of all its agents."""
        recorded = self._history.threads.main.progress(self.lease.run.id).last_turn
        return max(recorded, self._begun_turn) + self.answers_below.begun

    def known_choices(self) -> SessionChoices:
        """The session's choices, as far as the log is read."""
        return self._history.threads.main.chosen

    async def chosen(self) -> SessionChoices:
        await self._read()
        return self.known_choices()

    @property
    def has_unread_messages(self) -> bool:
        """Whether there is a message to the main agent since its last `conversation`."""
        return self._history.threads.main.seen_seq > self.seen_seq

    @property
    def team(self) -> Team:
        """The team of the run, as far as the log is read."""
        return self._history.threads.team

    def has_unread(self, agent_id: str) -> bool:
        """Whether one of the other agents has a message that it has not read."""
        return self._history.threads.of(agent_id).has_unread

    def mcp_servers(self) -> Mapping[str, KnownMcpServer]:
        """The known state of each MCP server, as of the last `conversation`."""
        return self._history.threads.mcp

    async def thread(self, agent_id: str | None = None) -> Thread:
        """The thread of one agent, up to date with the log. Raises `DrainedError` if the run is to be given back."""
        if self.waits.draining.is_set():
            raise DrainedError
        await self._read()
        return self._history.threads.of(agent_id)

    async def load(self) -> None:
        """Load the open calls and texts, in case the run is cut before it reads anything."""
        if not self.loaded.is_set():
            await self._read()
            self.seen_seq = self._history.threads.main.seen_seq

    async def _read(self) -> None:
        history, run_id = self._history, self.lease.run.id
        async with self.writes.reading:
            is_known = history.is_just_committed if self.loaded.is_set() else history.ends_with_message
            history.is_just_committed = False
            if not is_known:
                await history.read_on(self._log)
            if not self.loaded.is_set():
                progress = history.threads.main.progress(run_id)
                self.usage = progress.usage
                self.answers_below.begun += progress.turns_below
                self.writes.load()
                if not history.ends_with_message and history.started is not None:
                    self.live.show_stored([history.started])
                self.loaded.set()

    def lose(self) -> None:
        """Note that another worker has the run; logged and counted once, whoever finds it out."""
        if not self._is_lost and not self.writes.has_ended:
            self._is_lost = True
            self.live.forget()
            measures.LEASES_LOST.inc()
            logger.warning("run lost to another worker", extra={"run_id": self.lease.run.id})

    def first_message(self) -> str:
        """The session's first user message, as far as the log is read."""
        return self._history.threads.main.first_message or ""

    def attempts_without_progress(self) -> int:
        """The number of times the run was begun since its last progress, as far as the log is read."""
        return self._history.threads.main.progress(self.lease.run.id).attempts_without_progress

    def traced(self, model: ResolvedModel, role: ModelRole) -> ResolvedModel:
        return self.writes.traces.traced(model, role)

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

    async def record(self, payloads: Sequence[StoredPayload]) -> None:
        await self.writes.record(payloads)

    async def record_items(self, items: Sequence[NewEvent], *, handled: int = 0) -> None:
        await self.writes.record_items(items, handled=handled)

    async def record_result(self, finished: ToolFinished, outcome: Done) -> None:
        await self.writes.record_result(finished, outcome)

    def open_message(self, message: OpenMessage, preface: Sequence[NewEvent] = ()) -> None:
        self.writes.open_message(message, preface)

    async def wait(self, waits: Sequence[Wait]) -> bool:
        return await self.waits.wait(waits)

    async def undriven(self) -> SessionChoices:
        return await self.waits.undriven()
