"""The task that has a model write titles for conversations that have begun."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from backend_api.agent.catalogue import ModelCatalogue, ResolvedModel
from backend_api.agent.events import NO_USAGE, Event, MessageCompleted, MessageUser, Usage
from backend_api.agent.model import ModelError, UnknownModelError
from backend_api.agent.options import NO_OPTIONS, Options, defaults_of
from backend_api.agent.preset import Presets
from backend_api.agent.title import Exchange, TitleWriter
from backend_api.agent.usage import add_usage
from backend_api.conversations.domain.titles import DueTitle, Titles
from backend_api.conversations.ports import SessionStream, Transcripts
from backend_api.kit.errors import DomainError
from backend_api.kit.ids import SessionId
from backend_api.runs.application.histories import Histories
from backend_api.runs.application.session_traces import SessionTraces
from backend_api.settings.application.effective_settings import EffectiveSettings, OpenEffectiveSettings

logger = logging.getLogger(__name__)

MESSAGES = 20
MESSAGE_BYTES = 200_000


def _queue() -> asyncio.Queue[SessionId]:
    return asyncio.Queue(maxsize=1_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleSessions:
    """Titles are written beside the runs, in each process with a worker: a run that ended holds neither slot nor lease
    for its title. Ended runs of this process are queued, and every `poll_s` seconds it looks for others that are due,
    as the queue is lost with the process. A model has `deadline_s` seconds; a failed attempt is repeated later, and not
    shown. `defaults` and `presets` are those of runs."""

    titles: Titles
    transcripts: Transcripts
    stream: SessionStream
    catalogue: ModelCatalogue
    histories: Histories
    traces: SessionTraces | None = None
    effective_settings: OpenEffectiveSettings | None = None
    """The settings of users, whose own models write their titles; None if users have no settings."""
    defaults: Options = NO_OPTIONS
    presets: Presets = field(default_factory=Presets)
    at_once: int = 4
    deadline_s: float = 30.0
    poll_s: float = 20.0
    retry_s: float = 300.0
    wanted: asyncio.Queue[SessionId] = field(default_factory=_queue)

    def want(self, session_id: SessionId) -> None:
        """Queue a session whose run has ended. If the queue is full, a later look finds it."""
        if not self.wanted.full():
            self.wanted.put_nowait(session_id)

    async def title_until_cancelled(self) -> None:
        """Run until cancelled. An interrupted attempt is begun anew, here or elsewhere, once its time is over."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self.at_once):
                group.create_task(self._title_wanted())
            while True:
                await asyncio.sleep(self.poll_s)
                try:
                    for session_id in await self.titles.due():
                        self.want(session_id)
                except DomainError as error:
                    logger.warning("untitled sessions could not be listed", extra={"code": error.code})

    async def _title_wanted(self) -> None:
        while True:
            session_id = await self.wanted.get()
            try:
                await self.title_session(session_id)
            except DomainError as error:
                logger.info("session was not titled", extra={"session_id": session_id, "code": error.code})
            except Exception:
                logger.exception("session was not titled", extra={"session_id": session_id})

    async def title_session(self, session_id: SessionId) -> None:
        """Make one attempt, if one is due."""
        due = await self.titles.begin(session_id, within_s=2 * self.deadline_s)
        if due is None:
            return
        said = await self.transcripts.beginning(session_id, limit=MESSAGES, most=MESSAGE_BYTES)
        exchange = _exchange(said)
        if exchange is None:
            await self.titles.postpone(due, NO_USAGE, for_s=None)
            return
        if self.effective_settings is None:
            await self._write(due, exchange, EffectiveSettings(catalogue=self.catalogue))
            return
        async with self.effective_settings(due.user_id) as effective:
            await self._write(due, exchange, effective)

    async def _write(self, due: DueTitle, exchange: Exchange, effective: EffectiveSettings) -> None:
        session_id = due.session_id
        options = self.presets.layered(defaults_of(self.defaults, effective.options), due.options).options
        model = _model(options, effective.catalogue)
        title = reason = None
        async with self._traced(model, due, options) as traced:
            writer = TitleWriter(model=traced)
            try:
                async with asyncio.timeout(self.deadline_s):
                    title = await writer.write_title(exchange)
            except (ModelError, TimeoutError) as error:
                reason = error.code if isinstance(error, ModelError) else "deadline"
        if reason is not None:
            logger.info("session was not titled", extra={"session_id": session_id, "code": reason})
            await self.titles.postpone(due, _priced_usage(writer.used, model, is_cut=True), for_s=self.retry_s)
            return
        events = await self.titles.store(due, title, _priced_usage(writer.used, model))
        if events:
            self.histories.add(session_id, events)
            await self.stream.append(session_id, events)

    @asynccontextmanager
    async def _traced(self, model: ResolvedModel, due: DueTitle, options: Options) -> AsyncGenerator[ResolvedModel]:
        """The model with its calls traced. An attempt makes one call, which gets the number of the attempt."""
        if self.traces is None or not options.enable_tracing:
            yield model
            return
        async with self.traces.following(due.session_id, due.user_id, due.attempt) as traces:
            yield traces.traced(model, "title")


def _model(options: Options, catalogue: ModelCatalogue) -> ResolvedModel:
    if (own := catalogue.role("title")) is not None:
        return own
    try:
        return catalogue.choose(options.model)
    except UnknownModelError:
        return catalogue.choose(None)


def _priced_usage(call: Usage, model: ResolvedModel, *, is_cut: bool = False) -> Usage:
    """The usage of a call with its price, none of which counts as new context of the conversation."""
    if call == NO_USAGE:
        return call
    return add_usage(NO_USAGE, replace(call, cost=model.info.cost_when_cut) if is_cut else call, model.info.id)


def _exchange(said: Sequence[Event]) -> Exchange | None:
    """The first message, and the last answer to it; None if nothing was answered."""
    first = next((event for event in said if isinstance(event.payload, MessageUser)), None)
    if first is None or not isinstance(first.payload, MessageUser):
        return None
    answers = [
        (event.run_id, event.payload.text)
        for event in said
        if isinstance(event.payload, MessageCompleted) and event.payload.text.strip()
    ]
    if not answers:
        return None
    own = [text for run_id, text in answers if run_id == first.run_id]
    return Exchange(asked=first.payload.text, answered=own[-1] if own else answers[0][1])
