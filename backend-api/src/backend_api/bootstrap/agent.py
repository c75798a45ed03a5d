"""The agent: models, tools and the worker that drives runs."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import get_args

import httpx
from pydantic import SecretStr

from backend_api.application.background.look_at_command import LookAtCommand
from backend_api.application.background.watch_commands import WatchCommands
from backend_api.application.conversation.agent_files import AgentFiles
from backend_api.application.conversation.mirror_tasks import WITHIN_S as MIRROR_WITHIN_S
from backend_api.application.conversation.mirror_tasks import MirrorTasks
from backend_api.application.conversation.mirror_team import MirrorTeam
from backend_api.application.conversation.write_result import WriteResult
from backend_api.application.conversation.write_transcript import WriteTranscript
from backend_api.application.files.link_file import LinkFile
from backend_api.application.mcp.own_servers import ServersOfUsers
from backend_api.application.mcp.run_servers import McpServers
from backend_api.application.memories.change_memories import ChangeMemories
from backend_api.application.runs.histories import Histories
from backend_api.application.runs.masking import Mask
from backend_api.application.runs.run_services import RunOptions, RunServices
from backend_api.application.runs.session_traces import SessionTraces
from backend_api.application.runs.title_sessions import TitleSessions
from backend_api.application.runs.worker import Worker
from backend_api.application.settings.effective_settings import OpenEffectiveSettings
from backend_api.application.skills.install_skill import InstallSkill
from backend_api.application.skills.own_skills import OwnSkills
from backend_api.application.skills.place_skills import PlaceSkills
from backend_api.application.skills.skill_offers import SkillOffers
from backend_api.application.subagents.kinds_of_users import KindsOfUsers
from backend_api.bootstrap.capabilities import capabilities
from backend_api.bootstrap.settings import Settings
from backend_api.bootstrap.skills import NO_SKILLS, skill_reading
from backend_api.bootstrap.user_settings import base_urls
from backend_api.bootstrap.web import known_web_tools, search_settings, web_tools
from backend_api.domain.agent.capability import Setup, tools_of
from backend_api.domain.agent.catalogue import Role
from backend_api.domain.agent.presets import Presets
from backend_api.domain.agent.tasks import TaskBoard
from backend_api.domain.agent.tool_runner import MAX_TOGETHER
from backend_api.domain.agent.tools import Tool, ToolSpec
from backend_api.domain.conversation.background import BackgroundCommands
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.conversation.kept_calls import KeptCalls
from backend_api.domain.conversation.ports import EventLog, RunLedger, SessionRepository, SessionStream, Transcripts
from backend_api.domain.conversation.titles import Titles
from backend_api.domain.identity.entity import UserId
from backend_api.domain.mcp.ports import McpConnector
from backend_api.domain.memories.entity import MemoryFile
from backend_api.domain.notifier import Notifier
from backend_api.domain.sandbox.ports import Sandboxes, SandboxTools, Workspace
from backend_api.domain.skills.ports import SkillFolders
from backend_api.infrastructure.fetch.guarded_client import GuardedClient
from backend_api.infrastructure.llm.calls import RetryPolicy
from backend_api.infrastructure.llm.catalogue import Catalogue
from backend_api.infrastructure.llm.providers import LlmSettings
from backend_api.infrastructure.llm.user_catalogues import UserCatalogues
from backend_api.infrastructure.skills.archives import ZipArchives
from backend_api.infrastructure.tools.ask_user import ask_user
from backend_api.infrastructure.tools.background import (
    NAMES as BACKGROUND_TOOLS,
)
from backend_api.infrastructure.tools.background import (
    BackgroundCalls,
    BackgroundToolSource,
    told_specs,
)
from backend_api.infrastructure.tools.compact import COMPACT
from backend_api.infrastructure.tools.download_url import LinkSigner, SignedLink, generate_download_url
from backend_api.infrastructure.tools.install_skill import install_skill
from backend_api.infrastructure.tools.local import LocalTools, MainAgentTools
from backend_api.infrastructure.tools.mcp import McpTools
from backend_api.infrastructure.tools.memories import MemoryTools, memory_tools
from backend_api.infrastructure.tools.plan_mode import plan_mode_tools
from backend_api.infrastructure.tools.plan_update import PLAN_UPDATE
from backend_api.infrastructure.tools.sandbox_toolbox import SandboxToolSource, manifest_tools
from backend_api.infrastructure.tools.skills import skill_tools
from backend_api.infrastructure.tools.task import TaskTool, task_tool
from backend_api.infrastructure.tools.tasks import TaskTools, task_tools
from backend_api.infrastructure.tools.team import TeamTools, team_tools
from backend_api.infrastructure.tools.think import THINK
from backend_api.infrastructure.tools.todos import TodoTools, todo_tools
from backend_api.infrastructure.tools.utc_now import utc_now

SPARE_ANSWERS = 100
"""Of runs that were left are some still being closed when the next ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPorts:
    """What the agent stands on."""

    ledger: RunLedger
    log: EventLog
    stream: SessionStream
    notifier: Notifier
    sessions: SessionRepository
    sandboxes: Sandboxes
    sandbox_tools: SandboxTools
    workspace: Workspace
    link_file: LinkFile
    titles: Titles
    transcripts: Transcripts
    effective_settings: OpenEffectiveSettings
    kinds: KindsOfUsers
    kept_calls: KeptCalls
    background: BackgroundCommands
    look_at_command: LookAtCommand
    memories: ChangeMemories
    custom_tools: Sequence[Tool] = ()
    mcp_servers: ServersOfUsers
    mcp_connections: McpConnector
    own_skills: OwnSkills
    install_skill: InstallSkill
    skill_folders: SkillFolders
    fetcher: GuardedClient
    search_http: httpx.AsyncClient
    secrets: tuple[str, ...] = ()
    """What must not be read in anything that is kept of model calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """What the gateway shows of the agent, and the worker to run, with what works beside it."""

    worker: Worker
    title_sessions: TitleSessions
    watch_commands: WatchCommands
    prepare: Callable[[], None]
    """To be done before the work begins, and before the process does anything else: it holds up all of it."""
    tools: tuple[ToolSpec, ...]


def _llm_settings(settings: Settings) -> LlmSettings:
    return LlmSettings(
        provider=settings.llm_provider,
        model=settings.model,
        models=settings.models,
        roles=settings.role_models,
        models_file=settings.models_file,
        vision_models=settings.vision_models,
        openai_key=_reveal(settings.openai_api_key),
        openai_base_url=settings.openai_base_url,
        openai_api=settings.openai_api,
        anthropic_key=_reveal(settings.anthropic_api_key),
        anthropic_base_url=settings.anthropic_base_url,
        context_window=settings.context_window,
        demo_delay_s=settings.demo_delay_ms / 1000,
        # None of a worker's runs has to wait for what others ask: each of its agents asks one thing at a time.
        connections=settings.max_concurrent_runs * (MAX_TOGETHER + settings.max_teammates) + SPARE_ANSWERS,
    )


def _retry_policy(settings: Settings) -> RetryPolicy:
    return RetryPolicy(
        max_retries=settings.llm_max_retries,
        base_delay_s=settings.llm_retry_base_delay,
        max_delay_s=settings.llm_retry_max_delay,
    )


def build_user_catalogues(settings: Settings, shared: Catalogue) -> UserCatalogues:
    """The models of each user, beside those of the deployment."""
    return UserCatalogues(
        shared,
        _llm_settings(settings),
        _retry_policy(settings),
        base_urls=base_urls(settings),
        needs_prices=settings.max_run_cost is not None,
    )


def build_catalogue(settings: Settings) -> Catalogue:
    """The models of these settings. Raises `ValueError` that names a setting."""
    catalogue = Catalogue(_llm_settings(settings), _retry_policy(settings))
    if settings.max_run_cost is not None:
        _require_prices(catalogue)
    return catalogue


@asynccontextmanager
async def open_agent(
    settings: Settings, catalogue: Catalogue, presets: Presets, ports: AgentPorts, clock: Callable[[], float]
) -> AsyncGenerator[Agent]:
    """Connections to providers are closed at the end; the caller runs the worker. `clock` tells Unix seconds."""

    def now() -> datetime:
        return datetime.fromtimestamp(clock(), UTC)

    async with catalogue:
        own = ports.effective_settings.open_settings
        web = web_tools(search_settings(settings), own, ports.search_http, ports.fetcher)
        sign = _link_signer(ports.link_file, settings.user_content_origin or settings.public_url)
        local = _local_tools(now, sign, web)
        files = AgentFiles(ports.sandboxes, ports.workspace)
        mirrored = AgentFiles(ports.sandboxes, ports.workspace, within_s=MIRROR_WITHIN_S)
        place_skills = PlaceSkills(ports.own_skills, ZipArchives(), ports.skill_folders)
        specs = manifest_tools()
        foreground = [spec for spec in specs if spec.name not in BACKGROUND_TOOLS]
        sandbox = SandboxToolSource(foreground, ports.sandboxes, ports.sandbox_tools, place_skills=place_skills)
        background = BackgroundToolSource(
            SandboxToolSource(
                told_specs(specs, settings.background_timeout),
                ports.sandboxes,
                BackgroundCalls(
                    tools=ports.sandbox_tools,
                    commands=ports.background,
                    look=ports.look_at_command,
                    clock=now,
                    timeout_s=settings.background_timeout,
                ),
                place_skills=place_skills,
            )
        )
        table = capabilities(
            LocalTools(local),
            MainAgentTools(_main_agent_tools(ports.install_skill)),
            TaskTool(),
            LocalTools(skill_tools(skill_reading(ports.own_skills, place_skills))),
            TodoTools(),
            TaskTools(MirrorTasks(mirrored)),
            TeamTools(settings.max_teammates),
            MemoryTools(ports.memories),
            sandbox,
            background,
            LocalTools(ports.custom_tools),
            McpTools(),
            max_tokens=settings.max_token_budget,
            max_output_tokens=settings.max_output_tokens,
            max_cost=settings.max_run_cost,
            max_minutes=settings.max_run_minutes,
            compact_threshold=settings.compact_threshold,
            micro_compact_min_tokens=settings.micro_compact_min_tokens,
            approval_timeout_s=settings.approval_timeout,
        )
        histories, mask = Histories(), Mask(ports.secrets)
        title_sessions = TitleSessions(
            titles=ports.titles,
            transcripts=ports.transcripts,
            stream=ports.stream,
            catalogue=catalogue,
            effective_settings=ports.effective_settings,
            histories=histories,
            traces=SessionTraces(
                log=ports.log, stream=ports.stream, histories=histories, mask=mask, kept_calls=ports.kept_calls
            ),
            defaults=settings.session_defaults,
            presets=presets,
        )
        services = RunServices(
            ledger=ports.ledger,
            log=ports.log,
            stream=ports.stream,
            notifier=ports.notifier,
            sessions=ports.sessions,
            catalogue=catalogue,
            capabilities=table,
            options=RunOptions(max_output_tokens=settings.max_output_tokens),
            clock=now,
            new_id=_new_id,
            defaults=settings.session_defaults,
            presets=presets,
            mask=mask,
            kept_calls=ports.kept_calls,
            effective_settings=ports.effective_settings,
            kinds=ports.kinds,
            write_transcript=WriteTranscript(ports.log, files, now),
            write_result=WriteResult(files),
            mirror_team=MirrorTeam(mirrored),
            skills=SkillOffers(ports.own_skills),
            memories_of=_memories_of(ports.memories),
            want_title=title_sessions.want,
            mcp_tools=McpServers(
                connector=ports.mcp_connections,
                log=ports.log,
                clock=now,
                shared=ports.mcp_servers.shared,
                own=ports.mcp_servers.targets,
            ).of_run,
            keep_computer=ports.sandboxes.keep_alive,
            histories=histories,
        )
        name = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        worker = Worker(
            name=name,
            services=services,
            max_concurrent_runs=settings.max_concurrent_runs,
            announces=settings.use_background_jobs,
        )
        tools = await tools_of(table, Setup(now=now, options=settings.session_defaults))
        yield Agent(
            worker=worker,
            title_sessions=title_sessions,
            watch_commands=WatchCommands(commands=ports.background, look=ports.look_at_command),
            prepare=catalogue.load_tokenizers,
            tools=tuple(tool.spec for tool in tools),
        )


def known_tools() -> list[ToolSpec]:
    """All of the product that an agent may have here, also those for which something is not set."""
    local = _local_tools(lambda: datetime.now(UTC), _no_links, known_web_tools())
    own = (
        *local,
        *_main_agent_tools(None),
        task_tool(None),
        *todo_tools(),
        *task_tools(TaskBoard()),
        *team_tools(),
        *skill_tools(NO_SKILLS),
        *memory_tools(None),
    )
    return [*(tool.spec for tool in own), *manifest_tools()]


def _local_tools(now: Callable[[], datetime], sign: LinkSigner, web: Sequence[Tool]) -> list[Tool]:
    return [
        THINK,
        utc_now(now),
        generate_download_url(sign),
        *web,
        ask_user(),
    ]


def _main_agent_tools(install: InstallSkill | None) -> list[Tool]:
    return [*plan_mode_tools(), PLAN_UPDATE, COMPACT, install_skill(install)]


async def _no_links(session_id: str, user_id: str, path: str, *, expires_s: int) -> SignedLink:
    raise NotImplementedError


def _memories_of(memories: ChangeMemories):
    async def of(user_id: UserId) -> list[MemoryFile]:
        return (await memories.read(user_id)).files if memories.is_enabled else []

    return of


def _link_signer(link_file: LinkFile, origin: str):
    async def sign(session_id: str, user_id: str, path: str, *, expires_s: int) -> SignedLink:
        link = await link_file(SessionId(session_id), UserId(user_id), path, expires_s)
        return SignedLink(url=f"{origin}/api/files/{link.token}", expires_at=link.expires_at)

    return sign


def _require_prices(catalogue: Catalogue) -> None:
    """Raises `ValueError` where the cost of a run could not be known."""
    roles = [catalogue.role(role) for role in get_args(Role)]
    models = [*catalogue.models(), *(chosen.info for chosen in roles if chosen is not None)]
    if unknown := sorted({model.id for model in models if model.prices is None}):
        raise ValueError(
            f"MAX_RUN_COST needs the price of every model, and that of {', '.join(unknown)} is not known. Write it "
            "into a MODELS_FILE, or leave MAX_RUN_COST empty"
        )


def _reveal(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""


def _new_id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex}"
