"""Drives one leased run to its end, or hands it over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from backend_api.application.runs.crew import Crew, cut
from backend_api.application.runs.histories import Histories, History
from backend_api.application.runs.outbox import Outbox
from backend_api.application.runs.owner import Owner
from backend_api.application.runs.run_journal import HandOver, RunJournal
from backend_api.application.runs.title import name_session
from backend_api.application.runs.watched_run import watched_run
from backend_api.domain.agent.capability import Capabilities, Capability, Setup
from backend_api.domain.agent.catalogue import ChosenModel, ModelCatalogue
from backend_api.domain.agent.ending import Ending
from backend_api.domain.agent.events import ErrorEvent, Notice, RunFinished
from backend_api.domain.agent.loop import AgentLoop
from backend_api.domain.agent.model import ModelError, UnknownModelError
from backend_api.domain.agent.opening import Opening
from backend_api.domain.agent.options import NO_OPTIONS, Options, merged
from backend_api.domain.agent.retry import RetryingModel, RetryPolicy
from backend_api.domain.agent.tool_runner import ToolRunner
from backend_api.domain.agent.tools import ToolBox
from backend_api.domain.conversation.entity import Lease, OwnerMessage
from backend_api.domain.conversation.errors import LeaseLostError
from backend_api.domain.conversation.ports import EventLog, LiveTail, RunLedger, SessionRepository
from backend_api.domain.errors import DomainError, StoreUnavailableError
from backend_api.domain.notifier import Notifier, Topic

logger = logging.getLogger(__name__)

STOP_GRACE_S = 0.35
UNWIND_S = 5.0
"""A redirected run goes on only when what was cut has wound down."""
TITLE_GRACE_S = 0.1
DRAIN_S = 0.5
CUT_S = 1.5
HANDOVER_S = 2.0
STOPPED = "Stopped before it ended."
REDIRECTED = "Cut by a new message of the user."
TOO_OFTEN = "The run was interrupted {attempts} times in a row before it came any further. Send a message to go on."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Bounds of a run. A lease lapses `lease_s` after the last heartbeat."""

    retry: RetryPolicy = field(default_factory=RetryPolicy)
    max_output_tokens: int = 16_384
    max_attempts: int = 3
    lease_s: float = 10.0
    heartbeat_s: float = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDriver:
    """Everything one run needs, shared by all runs of a worker."""

    ledger: RunLedger
    log: EventLog
    tail: LiveTail
    notifier: Notifier
    sessions: SessionRepository
    catalogue: ModelCatalogue
    tools: ToolBox
    capabilities: Sequence[Capability]
    options: RunOptions
    clock: Callable[[], datetime]
    new_id: Callable[[str], str]
    sleep: Callable[[float], Awaitable[None]]
    jitter: Callable[[], float]
    defaults: Options = NO_OPTIONS
    """The deployment's layer of options."""
    histories: Histories = field(default_factory=Histories)

    async def drive(
        self, lease: Lease, history: History | None = None, *, leaving: asyncio.Event | None = None
    ) -> None:
        """Work until the run ends, is stopped, or is lost. When `leaving` is set it is handed over after its present
        step, and when cancelled at once.

        `history` is what is known already of the log.
        """
        with watched_run(lease):
            await self._keep(lease, history, leaving)

    async def _keep(self, lease: Lease, history: History | None, leaving: asyncio.Event | None) -> None:
        run, options = lease.run, self.options
        owner = Owner(lease, self.ledger, self.notifier, lease_s=options.lease_s, heartbeat_s=options.heartbeat_s)
        outbox = Outbox(self.tail, run.session_id, run.id, may_show=lambda: owner.holds)
        history = history or self.histories.take(run.session_id)
        journal = RunJournal(lease, self.ledger, self.log, outbox, history)
        fields = {"run_id": run.id, "session_id": run.session_id, "attempt": run.attempt}
        logger.info("run claimed", extra=fields)
        async with asyncio.TaskGroup() as group:
            crew = Crew(group)
            for beside in (outbox.run(), name_session(journal, self.sessions), _tell(leaving, journal)):
                crew.start(beside)
            try:
                await self._drive(crew, journal, owner)
                await outbox.drain(DRAIN_S)
            except asyncio.CancelledError:
                await crew.end(CUT_S)
                await self.hand_over(lease)
                raise
            finally:
                crew.cancel()
        self.histories.keep(history)
        logger.info("run left", extra=fields)

    async def hand_over(self, lease: Lease) -> None:
        """Give a run back in good order, for another worker to go on with at once."""
        try:
            async with asyncio.timeout(HANDOVER_S):
                await self.ledger.release(lease)
                await self.notifier.notify(Topic.RUN_QUEUED, lease.run.id)
        except (DomainError, TimeoutError):
            logger.info("run was not handed over; its lease lapses", extra={"run_id": lease.run.id})

    async def _drive(self, crew: Crew, journal: RunJournal, owner: Owner) -> None:
        keeping = crew.start(owner.keep(journal.has_begun))
        if covered := _stopped_up_to(journal.lease.messages):
            await self._stop(journal, covered)
            return
        hearing = crew.start(owner.hear())
        work = crew.start(self._work(journal))
        try:
            while not work.done() and not keeping.done():
                await asyncio.wait({work, keeping, hearing}, return_when=asyncio.FIRST_COMPLETED)
                if hearing.done() and not work.done():
                    work = await self._obey(crew, hearing.result(), work, journal)
                    hearing = crew.start(owner.hear())
            # A heartbeat may find the run ended before the news of its end is out.
            await journal.written()
            if not work.done() and not journal.has_ended:
                journal.lose()
        except LeaseLostError:
            journal.lose()
        finally:
            work.cancel()

    async def _obey(
        self,
        crew: Crew,
        messages: Sequence[OwnerMessage],
        work: asyncio.Task[None],
        journal: RunJournal,
    ) -> asyncio.Task[None]:
        """Do what was said to the owner; answers the work to go on with."""
        taken = messages[-1].number
        covered = _stopped_up_to(messages)
        if not covered and all(message.seq <= journal.seen_seq for message in messages):
            # The model reads these messages already, or has read them.
            await journal.record([], taken=taken)
            return work
        work.cancel()
        await asyncio.wait({work}, timeout=STOP_GRACE_S)
        if journal.has_ended:
            return work
        if covered:
            await self._stop(journal, covered)
            return work
        if journal.loaded.is_set():
            await journal.close_open(REDIRECTED, cancelled=True, taken=taken)
        else:
            await journal.record([], taken=taken)
        if not work.done():
            await asyncio.wait({work}, timeout=STOP_GRACE_S)
            await cut([work], UNWIND_S)
        logger.info("run redirected", extra={"run_id": journal.lease.run.id})
        return crew.start(self._work(journal))

    async def _stop(self, journal: RunJournal, covered: int) -> None:
        """End the run as stopped, and with it the answer to all that was said before the stop."""
        try:
            await journal.load()
            journal.seen_seq = max(journal.seen_seq, covered)
            await self._end(journal, Ending(status="stopped", reason="Stopped by the user."))
        except LeaseLostError:
            journal.lose()

    async def _work(self, journal: RunJournal) -> None:
        run = journal.lease.run
        try:
            if await self._was_cut_too_often(journal):
                reason = TOO_OFTEN.format(attempts=self.options.max_attempts)
                await self._end(
                    journal, Ending(status="interrupted", reason=reason, code="cut_too_often", retryable=True)
                )
                return
            while True:
                ending = await self._think(journal.lease, journal)
                if await self._end(journal, ending):
                    return
        except LeaseLostError:
            journal.lose()
        except HandOver:
            await self.hand_over(journal.lease)
        except StoreUnavailableError as error:
            # Not the run's fault, and nothing could be said of it: whoever finds the lease lapsed goes on.
            logger.warning("run left until the store is back", extra={"run_id": run.id, "reason": error.detail})

    async def _was_cut_too_often(self, journal: RunJournal) -> bool:
        """A run that is cut again and again may be what ends its workers; one that gets on in between is not."""
        run, most = journal.lease.run, self.options.max_attempts
        if run.attempt - run.handovers <= most:
            return False
        await journal.load()
        return journal.starts_in_vain() > most

    async def _think(self, lease: Lease, journal: RunJournal) -> Ending:
        try:
            loop = await self._loop(lease, journal)
            return await loop.run()
        except (LeaseLostError, HandOver, StoreUnavailableError):
            raise
        except ModelError as error:
            return Ending(status="failed", reason=error.detail, code=error.code, retryable=error.may_retry)
        except DomainError as error:
            return Ending(status="failed", reason=error.detail, code=error.code, retryable=error.retryable)
        except Exception:
            logger.exception("run crashed", extra={"run_id": lease.run.id, "session_id": lease.run.session_id})
            reason = "Something went wrong inside the agent. The log has the details under this run's id."
            return Ending(status="failed", reason=reason, code="internal", retryable=True)

    async def _loop(self, lease: Lease, journal: RunJournal) -> AgentLoop:
        chosen = await self._choose(lease, journal)
        chat = RetryingModel(inner=chosen.chat, policy=self.options.retry, sleep=self.sleep, jitter=self.jitter)
        tools = self.tools.tools()
        options = merged(self.defaults, lease.options)
        capabilities = Capabilities(self.capabilities, Setup(tools=tools, now=self.clock, options=options))
        return AgentLoop(
            model=ChosenModel(info=chosen.info, chat=chat),
            tools=ToolRunner(box=self.tools, journal=journal, new_id=self.new_id),
            journal=journal,
            capabilities=capabilities,
            opening=Opening(
                model=chosen.info.id,
                system=capabilities.system_prompt(),
                tools=tools,
                thinking=chosen.info.thinking_for(options.thinking),
            ),
            max_output_tokens=self.options.max_output_tokens,
            new_id=self.new_id,
        )

    async def _choose(self, lease: Lease, journal: RunJournal) -> ChosenModel:
        try:
            return self.catalogue.choose(lease.options.model)
        except UnknownModelError as error:
            chosen = self.catalogue.choose(None)
            text = f"{error.detail} {chosen.info.label} answers instead."
            await journal.record([Notice(text=text, code=error.code, params={"model": chosen.info.label})])
            return chosen

    async def _end(self, journal: RunJournal, ending: Ending) -> bool:
        run = journal.lease.run
        journal.has_begun.set()
        journal.hold(ending.said)
        await self._wait_for(journal.is_named, TITLE_GRACE_S)
        if ending.status != "completed":
            reason = STOPPED if ending.status == "stopped" else f"Not finished: {ending.reason}"
            error = ErrorEvent(text=ending.reason or "", code=ending.code or "", retryable=ending.retryable)
            extra = [error] if ending.code else []
            await journal.close_open(reason, *extra, cancelled=ending.status == "stopped")
        since = run.started_at or run.created_at
        finished = RunFinished(
            run_id=run.id,
            status=ending.status,
            reason=ending.reason,
            retryable=ending.retryable,
            usage=journal.usage,
            files=list(journal.files),
            duration_ms=max(round((self.clock() - since).total_seconds() * 1000), 0),
        )
        has_ended = await journal.finish(finished, seen_seq=journal.seen_seq)
        if has_ended and ending.status != "completed":
            # A message it has not read may have got a run of its own.
            await self.notifier.notify(Topic.RUN_QUEUED)
        return has_ended

    async def _wait_for(self, event: asyncio.Event, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return


def _stopped_up_to(messages: Sequence[OwnerMessage]) -> int:
    return max((message.seq for message in messages if message.kind == "stop"), default=0)


async def _tell(leaving: asyncio.Event | None, journal: RunJournal) -> None:
    if leaving is not None:
        await leaving.wait()
        journal.is_leaving = True
