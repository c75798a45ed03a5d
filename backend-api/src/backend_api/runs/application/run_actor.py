"""One run at work: the actor drives the agent's loop step by step, and handles the messages in the run's inbox."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Coroutine, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, assert_never

from backend_api.agent.ending import Ending
from backend_api.agent.events import ErrorEvent, RunFinished
from backend_api.agent.model import ModelError
from backend_api.conversations.domain.entity import InboxMessage, Lease
from backend_api.conversations.domain.errors import LeaseLostError
from backend_api.kit import measures
from backend_api.kit.errors import DomainError, StoreUnavailableError
from backend_api.kit.notifier import Subscription, Topic
from backend_api.runs.application.agent_loops import agent_loop
from backend_api.runs.application.histories import History
from backend_api.runs.application.lease_keeper import LeaseKeeper
from backend_api.runs.application.name_session import name_session
from backend_api.runs.application.run_services import RunServices
from backend_api.runs.application.run_stream import RunStream
from backend_api.runs.application.run_waits import DrainedError
from backend_api.runs.application.sandbox_keeper import keep_sandbox_until_cancelled
from service_kit.observation.context import working_for
from service_kit.observation.spans import span

T = TypeVar("T")
logger = logging.getLogger(__name__)

STOP_GRACE_S = 0.35
UNWIND_S = 5.0
"""How long cancelled work may take to wind down, in seconds. A run whose work takes longer is given back: under the
next lease nothing it does can be stored, however long it goes on."""
TITLE_GRACE_S = 0.1
DELIVER_S = 0.5
NAME_S = 2.0
"""How long a run that ends or waits allows for naming its conversation, in seconds."""
CUT_S = 1.5
DRAIN_S = 2.0
STOPPED = "Stopped before it ended."
REDIRECTED = "Interrupted by a new message from the user."
TOO_OFTEN = "The run was interrupted {attempts} times in a row without making progress. Send a message to continue."


class _UnwindError(Exception):
    """Raised if cancelled work does not end in time."""


class RunActor:
    """Drives one leased run to its end, or gives it back. All that can happen to it meanwhile comes through its inbox,
    which is stored on the run's record: see `_handle`. A message that joins the run needs no entry, as the loop reads
    it from the log before its next step."""

    def __init__(
        self, services: RunServices, lease: Lease, history: History | None = None, inbox: Subscription | None = None
    ) -> None:
        """Prepare the run. `history` is the known part of the log, `inbox` a subscription from before the lease."""
        run, options = lease.run, services.options
        self._services = services
        self._lease = lease
        self._inbox = inbox
        self._keeper = LeaseKeeper(
            lease, services.ledger, services.notifier, lease_s=options.lease_s, heartbeat_s=options.heartbeat_s
        )
        self._stream = RunStream(services.stream, run.session_id, run.id, may_show=lambda: self._keeper.holds)
        self._history = history or services.histories.borrow(run.session_id)
        self._journal = services.journal(lease, self._stream, self._history)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_drained = False
        self._is_over = False

    async def drive(self, draining: asyncio.Event) -> None:
        """Work until the run ends, is stopped, or is lost. Once `draining` is set the run is given back after its
        present step; if cancelled, at once."""
        run, journal = self._lease.run, self._journal
        journal.waits.draining = draining
        fields = {"run_id": run.id, "session_id": run.session_id, "attempt": run.attempt}
        with _observed(self._lease), self._forget_unless_ended():
            logger.info("run claimed", extra=fields)
            async with asyncio.TaskGroup() as group:
                self._begin(group, self._stream.deliver())
                if journal.writes.traces.is_on:
                    self._begin(group, journal.writes.traces.deliver())
                naming = None
                if not journal.is_named.is_set():
                    naming = self._begin(group, name_session(journal, self._services.sessions))
                self._begin(group, self._keep_sandbox())
                try:
                    await self._supervise(group)
                    if journal.writes.has_ended:
                        # The next message may come as soon as the end is published.
                        self._services.histories.keep(self._history)
                    if naming is not None and journal.writes.has_begun.is_set() and journal.loaded.is_set():
                        # A run may wait for the person before its conversation has a name.
                        await asyncio.wait({naming}, timeout=NAME_S)
                    await self._stream.drain(DELIVER_S)
                    if self._is_over and (self._lease.is_title_due or not self._lease.is_named):
                        self._services.want_title(run.session_id)
                except asyncio.CancelledError:
                    await _cancel_tasks(self._tasks, CUT_S)
                    await self.give_back()
                    raise
                finally:
                    for task in self._tasks:
                        task.cancel()
            if not journal.writes.has_ended:
                self._services.histories.keep(self._history)
            logger.info("run left", extra=fields)

    @contextmanager
    def _forget_unless_ended(self) -> Generator[None]:
        try:
            yield
        finally:
            if not self._journal.writes.has_ended:
                self._stream.forget()

    def _begin(self, group: asyncio.TaskGroup, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _keep_sandbox(self) -> None:
        services, session_id = self._services, self._lease.run.session_id
        every_s, uses_sandbox = services.keep_sandbox_every_s, self._journal.writes.uses_sandbox
        await keep_sandbox_until_cancelled(services.keep_sandbox, session_id, uses_sandbox, every_s)

    async def _supervise(self, group: asyncio.TaskGroup) -> None:
        journal, keeper = self._journal, self._keeper
        renewing = self._begin(group, keeper.keep(self._inbox))
        work: asyncio.Task[None] | None = None
        try:
            if covered := max((message.seq for message in self._lease.messages if message.kind == "stop"), default=0):
                await self._stop(covered)
                return
            if self._lease.messages:
                await self._handle(await keeper.next_messages(), None)
            inbox = self._begin(group, keeper.next_messages())
            work = self._begin(group, self._work())
            while not work.done() and not renewing.done():
                await asyncio.wait({work, renewing, inbox}, return_when=asyncio.FIRST_COMPLETED)
                if inbox.done() and not work.done():
                    if await self._handle(inbox.result(), work):
                        work = self._begin(group, self._work())
                    inbox = self._begin(group, keeper.next_messages())
            # A heartbeat may find the run ended before its end is published.
            await journal.writes.written()
            if not work.done() and not journal.writes.has_ended:
                journal.lose()
            if self._is_drained and work.done() and not journal.writes.has_ended:
                await self._leave_to_others(renewing)
        except LeaseLostError:
            journal.lose()
        except StoreUnavailableError as error:
            self._abandon(error)
        except _UnwindError:
            await self._leave_to_others(renewing)
        finally:
            if work is not None:
                work.cancel()

    async def _leave_to_others(self, renewing: asyncio.Task[None]) -> None:
        # A heartbeat after this point would renew the lease.
        await _cancel_tasks([renewing], CUT_S)
        self._keeper.give_up()
        self._stream.forget()
        await self.give_back()

    async def _handle(self, messages: Sequence[InboxMessage], work: asyncio.Task[None] | None) -> bool:
        """Do what the inbox asks for; returns whether the work was cut and has to begin anew."""
        journal, handled = self._journal, messages[-1].number
        await journal.load()
        stopped_up_to, is_redirected = 0, False
        for message in messages:
            match message.kind:
                case "stop":
                    stopped_up_to = max(stopped_up_to, message.seq)
                case "redirect":
                    # The model may have read that message already.
                    is_redirected = is_redirected or message.seq > journal.writes.read_seq
                case _:
                    assert_never(message.kind)
        if not stopped_up_to and not is_redirected:
            await journal.writes.record([], handled=handled)
            return False
        if work is not None:
            work.cancel()
            await asyncio.wait({work}, timeout=STOP_GRACE_S)
        if journal.writes.has_ended:
            return False
        if stopped_up_to:
            await self._stop(stopped_up_to)
            return False
        await self._redirect(handled, work)
        return True

    async def _redirect(self, handled: int, work: asyncio.Task[None] | None) -> None:
        """Store the cut work as far as it came; the work that begins anew reads the new message."""
        journal = self._journal
        await journal.writes.cut(REDIRECTED, handled=handled)
        if work is not None and not work.done():
            await asyncio.wait({work}, timeout=STOP_GRACE_S)
            await _cancel_tasks([work], UNWIND_S)
            if not work.done():
                raise _UnwindError
        journal.writes.is_cut = False
        logger.info("run redirected", extra={"run_id": self._lease.run.id})

    async def _stop(self, covered: int) -> None:
        """End the run as stopped, and with it the answer to every message before the stop. A message after the stop
        gets a run of its own, even if the model was sent it already: that answer is cut with the rest."""
        await self._journal.load()
        self._journal.seen_seq = covered
        await self._end(Ending(status="stopped", reason="Stopped by the user."))

    async def _work(self) -> None:
        journal, most = self._journal, self._services.options.max_attempts
        try:
            if await self._was_cut_too_often(most):
                reason = TOO_OFTEN.format(attempts=most)
                await self._end(Ending(status="interrupted", reason=reason, code="cut_too_often", retryable=True))
                return
            while (ending := await self._answer()) is not None:
                if await self._end(ending):
                    return
            logger.info("run waits", extra={"run_id": self._lease.run.id})
        except LeaseLostError:
            journal.lose()
        except DrainedError:
            self._is_drained = True
        except StoreUnavailableError as error:
            self._abandon(error)

    def _abandon(self, error: StoreUnavailableError) -> None:
        """Leave the run without recording a failure: the store is down, which is not the run's fault. The worker that
        finds the lease lapsed goes on."""
        fields = {"run_id": self._lease.run.id, "reason": error.detail}
        logger.warning("run left until the database is back", extra=fields)

    async def _was_cut_too_often(self, most: int) -> bool:
        """Whether the run was cut `most` times in a row without progress, as it may be what kills its workers."""
        run = self._lease.run
        if run.attempt - run.releases <= most:
            return False
        await self._journal.load()
        return self._journal.attempts_without_progress() > most

    async def _answer(self) -> Ending | None:
        """Run the agent until it ends or fails; None if the run waits now."""
        try:
            async with agent_loop(self._services, self._lease, self._journal) as loop:
                return await loop.run_turns()
        except (LeaseLostError, DrainedError, StoreUnavailableError):
            raise
        except ModelError as error:
            return Ending(status="failed", reason=error.detail, code=error.code, retryable=error.may_retry)
        except DomainError as error:
            return Ending(status="failed", reason=error.detail, code=error.code, retryable=error.retryable)
        except Exception:
            run = self._lease.run
            logger.exception("run crashed", extra={"run_id": run.id, "session_id": run.session_id})
            reason = "The agent failed with an internal error. The server's log has the details under this run's id."
            return Ending(status="failed", reason=reason, code="internal", retryable=True)

    async def _end(self, ending: Ending) -> bool:
        """End the run; False if an unread message prevents it."""
        run, journal = self._lease.run, self._journal
        journal.writes.has_begun.set()
        journal.writes.store_with_end(ending.said)
        if not journal.is_named.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(TITLE_GRACE_S):
                    await journal.is_named.wait()
        if ending.status != "completed":
            reason = STOPPED if ending.status == "stopped" else f"Not finished: {ending.reason}"
            error = ErrorEvent(text=ending.reason or "", code=ending.code or "", retryable=ending.retryable)
            extra = [error] if ending.code else []
            await journal.writes.close_open(reason, *extra, cancelled=ending.status == "stopped")
        if ending.status == "stopped":
            await self._services.request_end_of_commands(run.session_id)
        since = run.started_at or run.created_at
        finished = RunFinished(
            run_id=run.id,
            status=ending.status,
            reason=ending.reason,
            retryable=ending.retryable,
            usage=journal.usage,
            files=list(journal.writes.files),
            duration_ms=max(round((self._services.clock() - since).total_seconds() * 1000), 0),
        )
        self._is_over = has_ended = await journal.writes.finish(finished, seen_seq=journal.seen_seq)
        if has_ended and ending.status != "completed":
            # A message that the run has not read may have got a run of its own.
            await self._services.notifier.notify(Topic.RUN_QUEUED)
        elif has_ended:
            await self._services.notifier.notify(Topic.QUEUE_DUE, run.session_id)
        return has_ended

    async def give_back(self) -> None:
        """Release the run so that another worker goes on at once."""
        run = self._lease.run
        try:
            async with asyncio.timeout(DRAIN_S):
                await self._services.ledger.release(self._lease)
                await self._services.notifier.notify(Topic.RUN_QUEUED, run.id)
        except (DomainError, TimeoutError):
            logger.info("run was not given back; its lease lapses", extra={"run_id": run.id})


async def _cancel_tasks(tasks: Collection[asyncio.Task[Any]], within_s: float) -> None:
    """Cancel the tasks, and wait up to `within_s` for their end."""
    left = {task for task in tasks if not task.done()}
    for task in left:
        task.cancel()
    if left:
        _, left = await asyncio.wait(left, timeout=within_s)
    if left:
        logger.warning("run winds down slowly", extra={"tasks": [str(task.get_coro()) for task in left]})


@contextmanager
def _observed(lease: Lease) -> Generator[None]:
    """Logs, trace and metrics of all that one worker does for a run; the trace is the same for every worker of it."""
    run = lease.run
    if not lease.has_begun_before and run.started_at is not None:
        measures.RUN_WAKE_SECONDS.observe(max((run.started_at - run.created_at).total_seconds(), 0.0))
    if lease.taken_over:
        measures.RUN_TAKEOVERS.inc()
    attributes = {"session.id": run.session_id, "run.id": run.id, "run.attempt": run.attempt, "worker": lease.worker}
    with (
        working_for(request_id=run.request_id, session_id=run.session_id, run_id=run.id),
        span("run", parent=run.trace, attributes=attributes),
        measures.RUNS_HERE.track_inprogress(),
    ):
        yield
