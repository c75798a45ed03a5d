"""What all runs of a worker share, and the agent's loop made of it for one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from backend_api.application.runs.histories import Histories
from backend_api.application.runs.pictures import PictureCache
from backend_api.application.runs.run_journal import RunJournal
from backend_api.application.runs.subagents import Subagents
from backend_api.domain.agent.capability import Capabilities, Capability, Setup, offered, tools_of
from backend_api.domain.agent.catalogue import ChosenModel, ModelCatalogue
from backend_api.domain.agent.compactor import Compactor, WriteTranscript
from backend_api.domain.agent.events import Notice, SubagentKind
from backend_api.domain.agent.journal import Journal
from backend_api.domain.agent.loop import AgentLoop
from backend_api.domain.agent.model import UnknownModelError
from backend_api.domain.agent.opening import Opening
from backend_api.domain.agent.options import NO_OPTIONS, Options, merged
from backend_api.domain.agent.pictures import Pictures
from backend_api.domain.agent.tool_runner import ToolRunner
from backend_api.domain.conversation.entity import Lease, SessionId
from backend_api.domain.conversation.ports import EventLog, RunLedger, SessionRepository, SessionStream
from backend_api.domain.identity.entity import UserId
from backend_api.domain.notifier import Notifier


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Bounds of a run. A lease lapses `lease_s` after the last heartbeat."""

    max_output_tokens: int = 16_384
    max_attempts: int = 3
    lease_s: float = 10.0
    heartbeat_s: float = 2.5


async def _no_transcript(session_id: SessionId, user_id: UserId) -> None:
    """Nobody writes any."""
    del session_id, user_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RunServices:
    """Everything one run needs, shared by all runs of a worker."""

    ledger: RunLedger
    log: EventLog
    stream: SessionStream
    notifier: Notifier
    sessions: SessionRepository
    catalogue: ModelCatalogue
    capabilities: Sequence[Capability]
    options: RunOptions
    clock: Callable[[], datetime]
    new_id: Callable[[str], str]
    defaults: Options = NO_OPTIONS
    """The deployment's layer of options."""
    write_transcript: Callable[[SessionId, UserId], Awaitable[str | None]] = _no_transcript
    histories: Histories = field(default_factory=Histories)
    pictures: PictureCache = field(default_factory=PictureCache)

    async def agent_loop(self, lease: Lease, journal: RunJournal) -> AgentLoop:
        """The loop of the main agent, with the model, the tools and the capabilities of this run."""
        model = await self._choose(lease, journal)
        pictures = self.pictures.of(lease.run.session_id, self.log)
        options = merged(self.defaults, lease.options)
        setup = Setup(now=self.clock, options=options, mode=options.mode)

        async def write_transcript() -> str | None:
            return await self.write_transcript(lease.run.session_id, lease.run.user_id)

        async def loop_of(kind: SubagentKind, journal: Journal) -> AgentLoop:
            own = self.catalogue.role("subagent") or model
            return await self._loop(own, replace(setup, kind=kind), journal, pictures, write_transcript)

        delegate = Subagents(journal=journal, loop_of=loop_of, clock=self.clock)
        return await self._loop(model, replace(setup, delegate=delegate), journal, pictures, write_transcript)

    async def _loop(
        self,
        model: ChosenModel,
        setup: Setup,
        journal: Journal,
        pictures: Pictures,
        write_transcript: WriteTranscript,
    ) -> AgentLoop:
        setup = replace(setup, context_window=model.info.context_window)
        tools = await tools_of(self.capabilities, setup)
        specs = offered(self.capabilities, setup, tools)
        capabilities = Capabilities(self.capabilities, replace(setup, tools=specs))
        runner = ToolRunner(tools=tools, judge=capabilities.judge, journal=journal, new_id=self.new_id)
        system = capabilities.system_prompt()

        def loop(model: ChosenModel, fallback: AgentLoop | None = None) -> AgentLoop:
            return AgentLoop(
                model=model,
                tools=runner,
                journal=journal,
                pictures=pictures,
                capabilities=capabilities,
                compactor=Compactor(
                    model=self.catalogue.role("compact") or model, journal=journal, write_transcript=write_transcript
                ),
                opening=Opening(
                    model=model.info.id,
                    system=system,
                    tools=specs,
                    thinking=model.info.thinking_for(setup.options.thinking),
                    vision=model.info.vision,
                    mode=setup.mode,
                ),
                max_output_tokens=model.info.output_tokens(self.options.max_output_tokens),
                new_id=self.new_id,
                in_mode=lambda mode: self._loop(model, replace(setup, mode=mode), journal, pictures, write_transcript),
                fallback=fallback,
            )

        other = self.catalogue.role("fallback")
        return loop(model, loop(other) if other is not None and other.info.id != model.info.id else None)

    async def _choose(self, lease: Lease, journal: RunJournal) -> ChosenModel:
        try:
            return self.catalogue.choose(lease.options.model)
        except UnknownModelError as error:
            chosen = self.catalogue.choose(None)
            # Said once: whoever goes on with what that model was opened with has been told.
            opened = (await journal.conversation()).opened
            if opened is None or opened.model != chosen.info.id:
                text = f"{error.detail} {chosen.info.label} answers instead."
                await journal.record([Notice(text=text, code=error.code, params={"model": chosen.info.label})])
            return chosen
