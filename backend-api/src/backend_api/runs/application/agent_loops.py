"""The loops of a run's agents, built from what all runs of a worker share: the loop of the main agent and its team, and
the loops of sub-agents."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from backend_api.agent.capability import Capabilities, Capability, Setup, capabilities_of, offered, tools_of
from backend_api.agent.catalogue import ModelCatalogue, ResolvedModel
from backend_api.agent.compactor import Compactor
from backend_api.agent.events import ModelRole, Notice, ToolCalled
from backend_api.agent.journal import Journal
from backend_api.agent.long_results import ResultLimits
from backend_api.agent.loop import AgentLoop
from backend_api.agent.model import ModelInfo, UnknownModelError
from backend_api.agent.opening import ContextPrefix
from backend_api.agent.options import AgentMode, Options, defaults_of
from backend_api.agent.pictures import Pictures
from backend_api.agent.subagent_kinds import MAIN, SubagentKind
from backend_api.agent.team import LEAD, TEAMMATE, Membership, Team, Teammate
from backend_api.agent.tool import Assignment, Done, ToolCall, Waits
from backend_api.agent.tool_families import DESKTOP, ToolSet, choose_prompt_tools, has_pair
from backend_api.agent.tool_runner import ToolRunner
from backend_api.conversations.domain.entity import Lease
from backend_api.kit.ids import SessionId, UserId
from backend_api.runs.application.run_journal import RunJournal
from backend_api.runs.application.run_services import RunServices
from backend_api.runs.application.subagents import Subagents
from backend_api.runs.application.team_run import TeamRun
from backend_api.settings.application.effective_settings import EffectiveSettings

UNREADABLE_CODE = "secret_unreadable"
UNREADABLE = "A saved key of yours can't be decrypted with the server's current SECRETS_KEY."


@asynccontextmanager
async def agent_loop(services: RunServices, lease: Lease, journal: RunJournal) -> AsyncGenerator[AgentLoop | TeamRun]:
    """The loop of the main agent and its team, with the model, tools and capabilities of this run. The user's settings
    are read only if there are any; models called with the user's keys stay open until the block ends."""
    async with AsyncExitStack() as stack:
        effective = EffectiveSettings(catalogue=services.catalogue)
        if services.effective_settings is not None and lease.has_settings:
            effective = await stack.enter_async_context(services.effective_settings(lease.run.user_id))
        # A user with own kinds of sub-agents, or with anything loaded, has settings too: all others are spared a read
        # of the store.
        user_id, has_own = lease.run.user_id, lease.has_settings
        loaded = await _loaded(services.capabilities, user_id, lease.run.session_id) if has_own else {}
        defaults = defaults_of(services.defaults, effective.options, *_defaults(services.capabilities, loaded))
        preset, options, below = services.presets.layered(defaults, lease.options)
        model = await _choose(options.model, journal, effective)
        tools = await stack.enter_async_context(services.mcp_tools(lease, journal, preset, model.info.context_window))
        setup = Setup(
            now=services.clock,
            options=options,
            below=below,
            preset=preset,
            mode=options.mode,
            kinds=await services.kinds(user_id) if has_own else services.kinds.shared,
            loaded=loaded,
            mcp_tools=tools,
        )
        loops = _Loops(
            services=services,
            lease=lease,
            journal=journal,
            catalogue=effective.catalogue,
            model=model,
            setup=setup,
            pictures=services.pictures.of(lease.run.session_id, services.log),
        )
        yield await loops.main()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loops:
    """The loops of one run. `setup` holds what applies to all its agents, `model` is the main agent's."""

    services: RunServices
    lease: Lease
    journal: RunJournal
    catalogue: ModelCatalogue
    model: ResolvedModel
    setup: Setup
    pictures: Pictures

    async def main(self) -> AgentLoop | TeamRun:
        services, journal, setup = self.services, self.journal, self.setup
        has_team = await _has_team(setup.options, self.lease, journal)
        if has_team:
            setup = replace(setup, membership=Membership(name=LEAD, role="", team=self._team))
        loop = await self._loop(self.model, setup, journal)
        loop.notices = await _preset_notices(setup, journal)
        if not has_team:
            return loop
        return TeamRun(loop, journal, self._of_teammate, timing=services.options.team, mirror=services.mirror_team)

    async def _delegate(self, call: ToolCall, assignment: Assignment) -> Done | Waits:
        subagents = Subagents(
            journal=self.journal, loop_of=self._of_kind, kinds=self._kinds_now, clock=self.services.clock
        )
        return await subagents(call, assignment)

    async def _of_kind(self, kind: SubagentKind, journal: Journal) -> AgentLoop:
        own, notice = _model_of(kind, self.catalogue, self.model)
        loop = await self._loop(own, replace(self.setup, kind=kind.name, kinds=(kind,)), journal)
        if notice is not None and (await journal.conversation()).opened is None:
            loop.notices = [notice]
        return loop

    async def _of_teammate(self, one: Teammate, journal: Journal) -> AgentLoop:
        own = self.catalogue.role("teammate") or self.model
        its = Membership(name=one.name, role=one.role, team=self._team)
        below = replace(self.setup, kind=TEAMMATE.name, kinds=(TEAMMATE,), membership=its)
        return await self._loop(own, below, journal)

    async def _kinds_now(self) -> Sequence[SubagentKind]:
        return await self.services.kinds(self.lease.run.user_id)

    def _team(self) -> Team:
        return self.journal.team

    async def _write_transcript(self) -> str | None:
        run = self.lease.run
        return await self.services.write_transcript(run.session_id, run.user_id)

    async def _mirror(self) -> None:
        services, run, journal = self.services, self.lease.run, self.journal
        await services.mirror_tasks(run.session_id, run.user_id, journal.tasks)
        await services.mirror_team(run.session_id, run.user_id, journal.team)

    async def _keep_result(self, called: ToolCalled, output: str) -> str | None:
        run = self.lease.run
        return await self.services.write_result(run.session_id, run.user_id, called, output)

    async def _loop(self, model: ResolvedModel, setup: Setup, journal: Journal) -> AgentLoop:
        """The loop of one agent, with the loop of the model that answers if this one fails."""
        services, catalogue = self.services, self.catalogue
        tools = await tools_of(services.capabilities, setup)
        specs = offered(services.capabilities, setup, tools)

        async def in_mode(mode: AgentMode) -> AgentLoop:
            return await self._loop(model, replace(setup, mode=mode), journal)

        async def fallback_in_mode(mode: AgentMode) -> AgentLoop:
            whole = await in_mode(mode)
            return whole.fallback() if whole.fallback is not None else whole

        def loop(model: ResolvedModel, role: ModelRole, fallback: Callable[[], AgentLoop] | None = None) -> AgentLoop:
            info, summarizes = model.info, catalogue.role("compact") or model
            max_output_tokens = info.output_tokens(services.options.max_output_tokens)
            fitting = replace(setup, tools=specs, context_window=info.context_window, count_tokens=model.count_tokens)
            table = capabilities_of(services.capabilities, fitting)
            told = _choose_prompt_tools(table, fitting, info)
            capabilities = Capabilities(table, replace(fitting, tool_set=told))
            limits = ResultLimits(
                window=info.context_window,
                answer=max_output_tokens,
                count_tokens=model.count_tokens,
                keep=self._keep_result,
            )
            runner = ToolRunner(
                tools=tools,
                judge=capabilities.judge,
                journal=journal,
                new_id=services.new_id,
                limits=limits,
                tool_set=told,
                max_calls=setup.subagent.max_calls if setup.subagent is not None else None,
                delegate=self._delegate,
                mirror=self._mirror,
            )
            compactor = Compactor(
                model=journal.traced(summarizes, "compact"),
                instead=journal.traced(model, "compact") if summarizes.info.id != info.id else None,
                journal=journal,
                write_transcript=self._write_transcript,
                count_tokens=model.count_tokens,
            )
            opening = ContextPrefix(
                model=info.id,
                system=capabilities.system_prompt(),
                tools=told.first,
                thinking=info.thinking_for(setup.options.thinking),
                vision=info.vision,
                mode=setup.mode,
                preset=setup.preset.id,
                missing_preset=setup.missing_preset,
            )
            return AgentLoop(
                model=journal.traced(model, role),
                tools=runner,
                journal=journal,
                pictures=self.pictures,
                capabilities=capabilities,
                compactor=compactor,
                opening=opening,
                max_output_tokens=max_output_tokens,
                new_id=services.new_id,
                in_mode=fallback_in_mode if role == "fallback" else in_mode,
                fallback=fallback,
            )

        other = catalogue.role("fallback")
        is_another = other is not None and other.info.id != model.info.id
        fallback = partial(loop, other, "fallback") if other is not None and is_another else None
        return loop(model, _role_of(setup), fallback)


async def _loaded(capabilities: Sequence[Capability], user_id: UserId, session_id: SessionId) -> dict[str, object]:
    loaded = {one.name: await one.load(user_id) for one in capabilities if one.load is not None}
    for one in capabilities:
        if one.load_of_session is not None:
            loaded[one.name] = await one.load_of_session(user_id, session_id)
    return loaded


def _defaults(capabilities: Sequence[Capability], loaded: Mapping[str, object]) -> list[Options]:
    return [one.defaults(loaded[one.name]) for one in capabilities if one.defaults is not None and one.name in loaded]


def _choose_prompt_tools(capabilities: Sequence[Capability], setup: Setup, model: ModelInfo) -> ToolSet:
    """The tools that an agent gets in its first request, beside those its prompt contains in any case."""
    if not has_pair(setup.tools):
        return ToolSet(first=setup.tools)
    prompt = Capabilities(capabilities, setup).system_prompt()
    size = len(json.dumps(prompt, ensure_ascii=False).encode("utf-8", "replace"))
    return choose_prompt_tools(setup.tools, setup.first_tools, size, DESKTOP if model.knows_desktop else ())


def _role_of(setup: Setup) -> ModelRole:
    if setup.kind == MAIN:
        return "agent"
    return "teammate" if setup.membership is not None else "subagent"


async def _preset_notices(setup: Setup, journal: RunJournal) -> Sequence[Notice]:
    """A notice that the session's preset is gone, shown with the first answer without it: once the log has an opening
    without the preset, the user knows."""
    chosen, instead = setup.missing_preset, setup.preset
    if chosen is None:
        return ()
    opened = (await journal.conversation()).opened
    if opened is not None and opened.missing_preset == chosen:
        return ()
    text = f"The preset {chosen} is not available any more. The preset {instead.text.label} is used instead."
    return [Notice(text=text, code="unknown_preset", params={"preset": chosen, "instead": instead.text.label})]


async def _choose(model: str | None, journal: RunJournal, effective: EffectiveSettings) -> ResolvedModel:
    """The chosen model, or the default one with a notice if the chosen one is gone."""
    code = said = ""
    try:
        chosen = effective.catalogue.choose(model)
    except UnknownModelError as error:
        chosen, code, said = effective.catalogue.choose(None), error.code, error.detail
    if effective.has_unreadable:
        code, said = UNREADABLE_CODE, f"{said} {UNREADABLE}".strip()
    # Shown once: a conversation that was opened with the default model has had the notice.
    if said and ((opened := (await journal.conversation()).opened) is None or opened.model != chosen.info.id):
        text = f"{said} {chosen.info.label} answers instead."
        await journal.record([Notice(text=text, code=code, params={"model": chosen.info.label})])
    return chosen


async def _has_team(options: Options, lease: Lease, journal: RunJournal) -> bool:
    """Whether the agent may have a team. A team that has begun works until the run ends, whatever is chosen
    meanwhile."""
    if options.enable_teams:
        return True
    if not lease.has_begun_before:
        return False
    await journal.conversation()
    return bool(journal.team.present())


def _model_of(
    kind: SubagentKind, catalogue: ModelCatalogue, of_session: ResolvedModel
) -> tuple[ResolvedModel, Notice | None]:
    """The model of a sub-agent, and a notice if the model of its kind is gone."""
    other = catalogue.role("subagent") or of_session
    if kind.model is None:
        return other, None
    try:
        return catalogue.choose(kind.model), None
    except UnknownModelError as error:
        text = f"{error.detail} {other.info.label} answers instead."
        return other, Notice(text=text, code=error.code, params={"model": other.info.label})
