"""Drives one leased run to its end, or hands it over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from backend_api.application.runs.outbox import Outbox
from backend_api.application.runs.run_journal import RunJournal
from backend_api.domain.agent.budget import Budget, Ending
from backend_api.domain.agent.catalogue import ChosenModel, ModelCatalogue
from backend_api.domain.agent.events import ErrorEvent, Event, Notice, RunFinished, SessionUpdated
from backend_api.domain.agent.loop import AgentLoop
from backend_api.domain.agent.model import ModelError, UnknownModelError
from backend_api.domain.agent.prompt import system_prompt
from backend_api.domain.agent.retry import RetryingModel, RetryPolicy
from backend_api.domain.agent.tool_runner import ToolRunner
from backend_api.domain.agent.tools import ToolBox
from backend_api.domain.conversation.entity import Lease
from backend_api.domain.conversation.errors import LeaseLostError
from backend_api.domain.conversation.ports import (
    EventLog,
    LiveTail,
    RunLedger,
    RunSignals,
    SessionRepository,
    WorkQueue,
)
from backend_api.domain.errors import DomainError

logger = logging.getLogger(__name__)

Verdict = Literal["stop", "lost"]
TITLE_CHARACTERS = 60
STOP_GRACE_S = 0.35
FIRST_BEAT_S = 0.15
TITLE_GRACE_S = 0.1
SUBSCRIBE_S = 1.0
DRAIN_S = 0.5
HANDOVER_S = 2.0
STOPPED = "Stopped before it ended. What it did until then may have happened."
TOO_OFTEN = "The run was interrupted {attempts} times before it could end. Send a message to go on."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Bounds of a run. A lease lapses `lease_s` after the last heartbeat."""

    budget: Budget = field(default_factory=Budget)
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
    signals: RunSignals
    queue: WorkQueue
    sessions: SessionRepository
    catalogue: ModelCatalogue
    tools: ToolBox
    options: RunOptions
    clock: Callable[[], datetime]
    new_id: Callable[[str], str]
    sleep: Callable[[float], Awaitable[None]]
    jitter: Callable[[], float]

    async def drive(self, lease: Lease, history: Sequence[Event] | None = None) -> None:
        """Work until the run ends, is stopped, or is lost. Cancelling hands it over to another worker at once.

        `history` is all that stands in the log, where that is known already, and its readers were told of it.
        """
        run = lease.run
        outbox = Outbox(self.tail, run.session_id, run.id)
        journal = RunJournal(lease, self.ledger, self.log, outbox, history)
        fields = {"run_id": run.id, "session_id": run.session_id, "attempt": run.attempt}
        logger.info("run claimed", extra=fields)
        try:
            async with asyncio.TaskGroup() as group:
                pump = group.create_task(outbox.run())
                title = group.create_task(self._title(journal))
                try:
                    await self._drive(group, lease, journal)
                    await outbox.drain(DRAIN_S)
                finally:
                    title.cancel()
                    pump.cancel()
        except asyncio.CancelledError:
            await self._hand_over(lease)
            raise
        logger.info("run left", extra=fields)

    async def _drive(self, group: asyncio.TaskGroup, lease: Lease, journal: RunJournal) -> None:
        subscribed = asyncio.Event()
        work = group.create_task(self._work(lease, journal))
        heart = group.create_task(self._beat(lease, subscribed, journal))
        ear = group.create_task(self._listen(lease, subscribed))
        try:
            await asyncio.wait({work, heart, ear}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return
            verdict: Verdict = heart.result() if heart.done() else ear.result()
            work.cancel()
            if verdict == "stop":
                await asyncio.wait({work}, timeout=STOP_GRACE_S)
                await self._end(journal, Ending(status="stopped", reason="Stopped by the user."))
        finally:
            for task in (work, heart, ear):
                task.cancel()

    async def _work(self, lease: Lease, journal: RunJournal) -> None:
        try:
            if lease.run.attempt > self.options.max_attempts:
                await journal.conversation()
                reason = TOO_OFTEN.format(attempts=self.options.max_attempts)
                await self._end(journal, Ending(status="interrupted", reason=reason, retryable=True))
                return
            while True:
                ending = await self._think(lease, journal)
                if await self._end(journal, ending):
                    return
        except LeaseLostError:
            logger.warning("run lost to another worker", extra={"run_id": lease.run.id})

    async def _think(self, lease: Lease, journal: RunJournal) -> Ending:
        try:
            loop = await self._loop(lease, journal)
            return await loop.run()
        except LeaseLostError:
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
        return AgentLoop(
            model=ChosenModel(info=chosen.info, chat=chat),
            tools=ToolRunner(box=self.tools, journal=journal, new_id=self.new_id),
            journal=journal,
            budget=self.options.budget,
            system=system_prompt(self.tools.tools(), self.clock()),
            max_output_tokens=self.options.max_output_tokens,
            new_id=self.new_id,
        )

    async def _choose(self, lease: Lease, journal: RunJournal) -> ChosenModel:
        try:
            return self.catalogue.choose(lease.model)
        except UnknownModelError as error:
            chosen = self.catalogue.choose(None)
            text = f"{error.detail} {chosen.info.label} answers instead."
            await journal.record([Notice(text=text, code=error.code)])
            return chosen

    async def _end(self, journal: RunJournal, ending: Ending) -> bool:
        run = journal.lease.run
        journal.has_begun.set()
        await self._wait_for(journal.is_named, TITLE_GRACE_S)
        if ending.status != "completed":
            reason = STOPPED if ending.status == "stopped" else f"Not finished: {ending.reason}"
            error = ErrorEvent(text=ending.reason or "", code=ending.code or "", retryable=ending.retryable)
            await journal.close_open(reason, *([error] if ending.code else []))
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
            await self.queue.announce(run.id)
        return has_ended

    async def _title(self, journal: RunJournal) -> None:
        """Name an unnamed session after its first message; the run does not depend on it."""
        await journal.loaded.wait()
        await journal.has_begun.wait()
        run = journal.lease.run
        try:
            session = await self.sessions.get(run.session_id, run.user_id)
            title = title_of(journal.first_message())
            if not session.title and title:
                await self.sessions.update(run.session_id, run.user_id, {"title": title})
                await journal.record([SessionUpdated(title=title)])
        except DomainError as error:
            logger.info("session was not named", extra={"run_id": run.id, "code": error.code})
        finally:
            journal.is_named.set()

    async def _beat(self, lease: Lease, subscribed: asyncio.Event, journal: RunJournal) -> Verdict:
        """Heartbeat. The first beat comes once stops are listened to, so that none falls between; it lets the first
        words of the answer go before."""
        loop = asyncio.get_running_loop()
        held_until = loop.time() + self.options.lease_s
        await self._wait_for(subscribed, SUBSCRIBE_S)
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_BEAT_S):
                await journal.has_begun.wait()
        while True:
            try:
                async with asyncio.timeout(self.options.heartbeat_s):
                    if await self.ledger.renew(lease, lease_s=self.options.lease_s):
                        return "stop"
                held_until = loop.time() + self.options.lease_s
            except LeaseLostError:
                return "lost"
            except Exception:
                logger.exception("heartbeat failed", extra={"run_id": lease.run.id})
            if loop.time() >= held_until:
                return "lost"
            await asyncio.sleep(self.options.heartbeat_s)

    async def _listen(self, lease: Lease, subscribed: asyncio.Event) -> Verdict:
        try:
            async with self.signals.stops(lease.run.id) as stops:
                subscribed.set()
                async for _ in stops:
                    return "stop"
        except Exception:
            # The heartbeat asks too, a little later.
            logger.exception("stops can't be listened to", extra={"run_id": lease.run.id})
        subscribed.set()
        await asyncio.Event().wait()
        return "stop"

    async def _wait_for(self, event: asyncio.Event, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return

    async def _hand_over(self, lease: Lease) -> None:
        try:
            async with asyncio.timeout(HANDOVER_S):
                await self.ledger.renew(lease, lease_s=0.0)
                await self.queue.announce(lease.run.id)
        except (LeaseLostError, TimeoutError):
            logger.info("run was not handed over; its lease lapses", extra={"run_id": lease.run.id})


def title_of(text: str) -> str:
    """First line of a message, cut at a word where there is one."""
    line = next((stripped for raw in text.splitlines() if (stripped := " ".join(raw.split()))), "")
    if len(line) <= TITLE_CHARACTERS:
        return line
    cut = line[:TITLE_CHARACTERS]
    word = cut.rfind(" ")
    return (cut[:word] if word > TITLE_CHARACTERS // 2 else cut).rstrip() + "…"
