"""What all runs of a worker share, and the agent's loop made of it for one of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from backend_api.application.runs.computer_keeper import EVERY_S, KeepComputer, no_computer
from backend_api.application.runs.histories import Histories, History
from backend_api.application.runs.masking import Mask
from backend_api.application.runs.pictures import PictureCache
from backend_api.application.runs.run_journal import RunJournal
from backend_api.application.runs.run_stream import RunStream
from backend_api.application.runs.subagents import Subagents
from backend_api.application.runs.team_run import MirrorTeam, TeamRun, TeamTiming, no_mirror
from backend_api.application.settings.effective_settings import EffectiveSettings, OpenEffectiveSettings
from backend_api.application.skills.skill_offers import SkillOffers
from backend_api.application.subagents.kinds_of_users import KindsOfUsers
from backend_api.domain.agent.capability import Capabilities, Capability, Setup, offered, tools_of
from backend_api.domain.agent.catalogue import ChosenModel, ModelCatalogue
from backend_api.domain.agent.compactor import Compactor, WriteTranscript
from backend_api.domain.agent.events import ModelRole, Notice, ToolCalled
from backend_api.domain.agent.journal import Journal
from backend_api.domain.agent.long_results import KeepResult, ResultLimits
from backend_api.domain.agent.loop import AgentLoop
from backend_api.domain.agent.model import MAX_OUTPUT_TOKENS, UnknownModelError
from backend_api.domain.agent.opening import Opening
from backend_api.domain.agent.options import NO_OPTIONS, AgentMode, Options, defaults_of
from backend_api.domain.agent.pictures import Pictures
from backend_api.domain.agent.presets import Preset, Presets
from backend_api.domain.agent.subagent_kinds import MAIN, SubagentKind
from backend_api.domain.agent.team import LEAD, TEAMMATE, Membership, Team, Teammate
from backend_api.domain.agent.tool_runner import ToolRunner
from backend_api.domain.agent.tools import Tool
from backend_api.domain.conversation.entity import Lease, SessionId
from backend_api.domain.conversation.kept_calls import KeptCalls, KeptCallsOfSession
from backend_api.domain.conversation.ports import EventLog, RunLedger, SessionRepository, SessionStream
from backend_api.domain.identity.entity import UserId
from backend_api.domain.memories.entity import MemoryFile
from backend_api.domain.notifier import Notifier

UNREADABLE_CODE = "secret_unreadable"
UNREADABLE = "A key of yours can't be read with the SECRETS_KEY that the server has now."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Bounds of a run. A lease lapses `lease_s` after the last heartbeat."""

    max_output_tokens: int = MAX_OUTPUT_TOKENS
    max_attempts: int = 3
    lease_s: float = 10.0
    heartbeat_s: float = 2.5
    team: TeamTiming = field(default_factory=TeamTiming)


async def _no_transcript(session_id: SessionId, user_id: UserId) -> None:
    """Nobody writes any."""
    del session_id, user_id


async def _no_result(session_id: SessionId, user_id: UserId, called: ToolCalled, output: str) -> None:
    """Nobody writes any."""
    del session_id, user_id, called, output


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """What is written into the workspace for the agents of a run."""

    write_transcript: WriteTranscript
    keep_result: KeepResult


async def _no_memories(user_id: UserId) -> Sequence[MemoryFile]:
    """Nobody keeps any."""
    del user_id
    return ()


@asynccontextmanager
async def no_mcp_tools(lease: Lease, journal: RunJournal, preset: Preset) -> AsyncGenerator[Sequence[Tool]]:
    """There is no such server."""
    del lease, journal, preset
    yield ()


async def _no_commands(session_id: SessionId) -> None:
    """Nothing runs in the background."""
    del session_id


def _no_title(session_id: SessionId) -> None:
    """Nobody finds any."""
    del session_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RunServices:
    """Everything one run needs, shared by all runs of a worker."""

    ledger: RunLedger
    log: EventLog
    stream: SessionStream
    notifier: Notifier
    sessions: SessionRepository
    catalogue: ModelCatalogue
    """The deployment's models."""
    capabilities: Sequence[Capability]
    options: RunOptions
    clock: Callable[[], datetime]
    new_id: Callable[[str], str]
    defaults: Options = NO_OPTIONS
    """The deployment's layer of options."""
    presets: Presets = field(default_factory=Presets)
    kinds: KindsOfUsers = field(default_factory=KindsOfUsers)
    """Of sub-agents."""
    effective_settings: OpenEffectiveSettings | None = None
    """What users have set; None: they can't."""
    write_transcript: Callable[[SessionId, UserId], Awaitable[str | None]] = _no_transcript
    write_result: Callable[[SessionId, UserId, ToolCalled, str], Awaitable[str | None]] = _no_result
    mirror_team: MirrorTeam = no_mirror
    skills: SkillOffers = field(default_factory=SkillOffers)
    want_stop_of_commands: Callable[[SessionId], Awaitable[object]] = _no_commands
    """Asked for as a run ends that was stopped: what it began in the background after the stop came ends, too."""
    want_title: Callable[[SessionId], None] = _no_title
    """Told where a run ended whose session is to have a better title."""
    memories_of: Callable[[UserId], Awaitable[Sequence[MemoryFile]]] = _no_memories
    mcp_tools: Callable[[Lease, RunJournal, Preset], AbstractAsyncContextManager[Sequence[Tool]]] = no_mcp_tools
    """Those of MCP servers that a run's agents have by this preset; connections are open for the length of a block."""
    keep_computer: KeepComputer = no_computer
    keep_computer_every_s: float = EVERY_S
    """A run that has called for its computer keeps it until it ends, or waits for a person."""
    mask: Mask = field(default_factory=Mask)
    """What is hidden of model calls that are stored."""
    kept_calls: KeptCalls | None = None
    """What bounds them; None: nothing."""
    histories: Histories = field(default_factory=Histories)
    pictures: PictureCache = field(default_factory=PictureCache)

    def journal(self, lease: Lease, stream: RunStream, history: History) -> RunJournal:
        """That of a run, which stores calls of models where its session wants that."""
        _, options = self.presets.layered(self.defaults, lease.options)
        mask, kept = self.mask if options.enable_tracing else None, None
        if self.kept_calls is not None:
            kept = KeptCallsOfSession(self.kept_calls, lease.run.session_id, lease.run.user_id)
        return RunJournal(lease, self.ledger, self.log, stream, history, mask=mask, kept=kept)

    @asynccontextmanager
    async def agent_loop(self, lease: Lease, journal: RunJournal) -> AsyncGenerator[AgentLoop | TeamRun]:
        """The loop of the main agent and of its team, with the model, the tools and the capabilities of this run. What
        its user has set is looked at where there is something; the models asked with the user's keys are open until the
        block ends."""
        async with AsyncExitStack() as stack:
            effective = EffectiveSettings(catalogue=self.catalogue)
            if self.effective_settings is not None and lease.has_settings:
                effective = await stack.enter_async_context(self.effective_settings(lease.run.user_id))
            preset, _ = self.presets.layered(defaults_of(self.defaults, effective.options), lease.options)
            tools = await stack.enter_async_context(self.mcp_tools(lease, journal, preset))
            yield await self._main_loop(lease, journal, effective, tools)

    async def _main_loop(
        self, lease: Lease, journal: RunJournal, effective: EffectiveSettings, mcp_tools: Sequence[Tool]
    ) -> AgentLoop | TeamRun:
        catalogue = effective.catalogue
        defaults = defaults_of(self.defaults, effective.options)
        preset, options = self.presets.layered(defaults, lease.options)
        below = self.presets.layered(defaults, Options(preset=preset.id))[1]
        model = await self._choose(options.model, journal, effective)
        pictures = self.pictures.of(lease.run.session_id, self.log)
        # Who has skills, memories or kinds of sub-agents has settings, too: nobody else costs the store a look.
        user_id, has_own = lease.run.user_id, lease.has_settings
        setup = Setup(
            now=self.clock,
            options=options,
            below=below,
            preset=preset,
            mode=options.mode,
            kinds=await self.kinds(user_id) if has_own else self.kinds.shared,
            skills=await self.skills(user_id) if has_own else self.skills.shared,
            memories=await self.memories_of(user_id) if has_own else (),
            mcp_tools=mcp_tools,
        )

        async def write_transcript() -> str | None:
            return await self.write_transcript(lease.run.session_id, lease.run.user_id)

        async def keep_result(called: ToolCalled, output: str) -> str | None:
            return await self.write_result(lease.run.session_id, lease.run.user_id, called, output)

        files = _Files(write_transcript=write_transcript, keep_result=keep_result)

        async def loop_of(kind: SubagentKind, journal: Journal) -> AgentLoop:
            own, notice = _model_of(kind, catalogue, model)
            below = replace(setup, kind=kind.name, kinds=(kind,))
            loop = await self._loop(own, catalogue, below, journal, pictures, files)
            if notice is not None and (await journal.conversation()).opened is None:
                loop.notices = [notice]
            return loop

        async def kinds_now() -> Sequence[SubagentKind]:
            return await self.kinds(lease.run.user_id)

        async def loop_of_teammate(one: Teammate, journal: Journal) -> AgentLoop:
            own = catalogue.role("teammate") or model
            its = Membership(name=one.name, role=one.role, team=team)
            below = replace(setup, kind=TEAMMATE.name, kinds=(TEAMMATE,), membership=its)
            return await self._loop(own, catalogue, below, journal, pictures, files)

        def team() -> Team:
            return journal.team

        delegate = Subagents(journal=journal, loop_of=loop_of, kinds=kinds_now, clock=self.clock)
        has_team = await _has_team(options, lease, journal)
        its = Membership(name=LEAD, role="", team=team) if has_team else None
        main = replace(setup, delegate=delegate, membership=its)
        loop = await self._loop(model, catalogue, main, journal, pictures, files)
        loop.notices = await self._notices(setup, journal)
        if not has_team:
            return loop
        return TeamRun(loop, journal, loop_of_teammate, timing=self.options.team, mirror=self.mirror_team)

    async def _loop(
        self,
        model: ChosenModel,
        catalogue: ModelCatalogue,
        setup: Setup,
        journal: Journal,
        pictures: Pictures,
        files: _Files,
    ) -> AgentLoop:
        setup = replace(
            setup,
            context_window=model.info.context_window,
            count_tokens=model.count_tokens,
            todos=journal.todos,
            tasks=journal.tasks,
            skills_read=journal.skills_read,
        )
        tools = await tools_of(self.capabilities, setup)
        specs = offered(self.capabilities, setup, tools)
        system = Capabilities(self.capabilities, replace(setup, tools=specs)).system_prompt()

        is_main, is_of_team = setup.kind == MAIN, setup.membership is not None
        own: ModelRole = "agent" if is_main else "teammate" if is_of_team else "subagent"

        async def in_mode(mode: AgentMode) -> AgentLoop:
            return await self._loop(model, catalogue, replace(setup, mode=mode), journal, pictures, files)

        async def fallback_in_mode(mode: AgentMode) -> AgentLoop:
            whole = await in_mode(mode)
            return whole.fallback or whole

        def loop(model: ChosenModel, role: ModelRole, fallback: AgentLoop | None = None) -> AgentLoop:
            info, summarizes = model.info, catalogue.role("compact") or model
            fitting = replace(setup, tools=specs, context_window=info.context_window, count_tokens=model.count_tokens)
            capabilities = Capabilities(self.capabilities, fitting)
            limits = ResultLimits(
                window=info.context_window,
                answer=info.output_tokens(self.options.max_output_tokens),
                count_tokens=model.count_tokens,
                keep=files.keep_result,
            )
            return AgentLoop(
                model=journal.traced(model, role),
                tools=ToolRunner(
                    tools=tools, judge=capabilities.judge, journal=journal, new_id=self.new_id, limits=limits
                ),
                journal=journal,
                pictures=pictures,
                capabilities=capabilities,
                compactor=Compactor(
                    model=journal.traced(summarizes, "compact"),
                    instead=journal.traced(model, "compact") if summarizes.info.id != info.id else None,
                    journal=journal,
                    write_transcript=files.write_transcript,
                    count_tokens=model.count_tokens,
                ),
                opening=Opening(
                    model=model.info.id,
                    system=system,
                    tools=specs,
                    thinking=model.info.thinking_for(setup.options.thinking),
                    vision=model.info.vision,
                    mode=setup.mode,
                    preset=setup.preset.id,
                    missing_preset=setup.missing_preset,
                ),
                max_output_tokens=model.info.output_tokens(self.options.max_output_tokens),
                new_id=self.new_id,
                in_mode=fallback_in_mode if role == "fallback" else in_mode,
                fallback=fallback,
            )

        other = catalogue.role("fallback")
        is_another = other is not None and other.info.id != model.info.id
        return loop(model, own, loop(other, "fallback") if other is not None and is_another else None)

    async def _notices(self, setup: Setup, journal: RunJournal) -> Sequence[Notice]:
        """That the session's preset is gone, with the first answer without it: once opened so, it has been told."""
        chosen, instead = setup.missing_preset, setup.preset
        if chosen is None:
            return ()
        opened = (await journal.conversation()).opened
        if opened is not None and opened.missing_preset == chosen:
            return ()
        text = f"The preset {chosen} is not available any more. The preset {instead.text.label} is used instead."
        return [Notice(text=text, code="unknown_preset", params={"preset": chosen, "instead": instead.text.label})]

    @staticmethod
    async def _choose(model: str | None, journal: RunJournal, effective: EffectiveSettings) -> ChosenModel:
        code = said = ""
        try:
            chosen = effective.catalogue.choose(model)
        except UnknownModelError as error:
            chosen, code, said = effective.catalogue.choose(None), error.code, error.detail
        if effective.has_unreadable:
            code, said = UNREADABLE_CODE, f"{said} {UNREADABLE}".strip()
        # Said once: whoever goes on with what that model was opened with has been told.
        if said and ((opened := (await journal.conversation()).opened) is None or opened.model != chosen.info.id):
            text = f"{said} {chosen.info.label} answers instead."
            await journal.record([Notice(text=text, code=code, params={"model": chosen.info.label})])
        return chosen


async def _has_team(options: Options, lease: Lease, journal: RunJournal) -> bool:
    """Whether the agent may have one. A team that began works on until the run ends, whatever is chosen meanwhile."""
    if options.enable_teams:
        return True
    if not lease.has_begun_before:
        return False
    await journal.conversation()
    return bool(journal.team.present())


def _model_of(
    kind: SubagentKind, catalogue: ModelCatalogue, of_session: ChosenModel
) -> tuple[ChosenModel, Notice | None]:
    """The model of a sub-agent, and what is told where its kind's own is gone."""
    other = catalogue.role("subagent") or of_session
    if kind.model is None:
        return other, None
    try:
        return catalogue.choose(kind.model), None
    except UnknownModelError as error:
        text = f"{error.detail} {other.info.label} answers instead."
        return other, Notice(text=text, code=error.code, params={"model": other.info.label})
