"""The agent: models, tools and the worker that drives runs."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from backend_api.agent.capability import Setup, tools_of
from backend_api.agent.preset import Presets
from backend_api.agent.subagent_kinds import BUILT_IN_KINDS
from backend_api.agent.tool import Tool, ToolSpec
from backend_api.agent.tools.ask_user import ask_user
from backend_api.agent.tools.compact import COMPACT
from backend_api.agent.tools.local import LocalTools, MainAgentTools
from backend_api.agent.tools.plan_mode import plan_mode_tools
from backend_api.agent.tools.plan_update import PLAN_UPDATE
from backend_api.agent.tools.task import TaskTool, task_tool
from backend_api.agent.tools.tasks import task_tools
from backend_api.agent.tools.team import TeamTools, team_tools
from backend_api.agent.tools.think import THINK
from backend_api.agent.tools.todos import todo_tools
from backend_api.agent.tools.tool_families import LOAD_TOOLS, USE_TOOL_OF_FAMILY
from backend_api.agent.tools.utc_now import utc_now
from backend_api.computers.application.link_file import LinkFile
from backend_api.computers.tools import LinkSigner, SignedLink, generate_download_url
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.conversations.application.mirror_tasks import WITHIN_S as MIRROR_WITHIN_S
from backend_api.conversations.application.mirror_tasks import MirrorTasks
from backend_api.conversations.application.mirror_team import MirrorTeam
from backend_api.conversations.application.write_result import WriteResult
from backend_api.conversations.application.write_transcript import WriteTranscript
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.masking import Mask
from backend_api.main.agent_ports import AgentPorts
from backend_api.main.modules import MODULES
from backend_api.main.settings import Settings
from backend_api.models.catalogue import Catalogue
from backend_api.module import Module
from backend_api.runs.application.histories import Histories
from backend_api.runs.application.run_services import RunOptions, RunServices, no_commands, no_mcp_tools
from backend_api.runs.application.session_traces import SessionTraces
from backend_api.runs.application.title_sessions import TitleSessions
from backend_api.runs.application.worker import Worker
from backend_api.runs.capabilities import capabilities
from backend_api.sandboxes.tools import SandboxToolSource, foreground_tools, no_folders


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """What the gateway shows of the agent, and the worker to run, with what works beside it."""

    worker: Worker
    title_sessions: TitleSessions
    tools: tuple[ToolSpec, ...]


@asynccontextmanager
async def open_agent(
    settings: Settings, catalogue: Catalogue, presets: Presets, ports: AgentPorts, clock: Callable[[], float]
) -> AsyncGenerator[Agent]:
    """Connections to providers are closed at the end; the caller runs the worker. `clock` tells Unix seconds."""

    def now() -> datetime:
        return datetime.fromtimestamp(clock(), UTC)

    kept, sandbox = ports.conversations, ports.sandbox
    async with catalogue:
        sign = _link_signer(ports.link_file, settings.link_origin)
        local = _local_tools(now, sign)
        files = AgentFiles(sandbox.sandboxes, sandbox.workspace)
        mirrored = AgentFiles(sandbox.sandboxes, sandbox.workspace, within_s=MIRROR_WITHIN_S)
        mirror_tasks = MirrorTasks(mirrored)
        place_skills = ports.modules.port("place_skills", no_folders)
        table = capabilities(
            LocalTools(local),
            MainAgentTools(_main_agent_tools()),
            TaskTool(),
            LocalTools(todo_tools()),
            LocalTools(task_tools(mirror_tasks)),
            TeamTools(settings.max_teammates),
            SandboxToolSource(foreground_tools(), sandbox.sandboxes, sandbox.tools, place_skills=place_skills),
            LocalTools(ports.custom_tools),
            *ports.modules.tools,
            of_modules=ports.modules.capabilities,
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
            titles=kept.titles,
            transcripts=kept.transcripts,
            stream=kept.stream,
            catalogue=catalogue,
            effective_settings=ports.effective_settings,
            histories=histories,
            traces=SessionTraces(
                log=kept.log, stream=kept.stream, histories=histories, mask=mask, kept_calls=kept.kept_calls
            ),
            defaults=settings.session_defaults,
            presets=presets,
        )
        services = RunServices(
            ledger=kept.ledger,
            log=kept.log,
            stream=kept.stream,
            notifier=kept.notifier,
            sessions=kept.sessions,
            catalogue=catalogue,
            capabilities=table,
            options=RunOptions(max_output_tokens=settings.max_output_tokens),
            clock=now,
            new_id=_new_id,
            defaults=settings.session_defaults,
            presets=presets,
            mask=mask,
            kept_calls=kept.kept_calls,
            effective_settings=ports.effective_settings,
            kinds=ports.modules.port("kinds", BUILT_IN_KINDS),
            write_transcript=WriteTranscript(kept.log, files, now),
            write_result=WriteResult(files),
            mirror_tasks=mirror_tasks,
            mirror_team=MirrorTeam(mirrored),
            request_end_of_commands=ports.modules.port("request_end_of_commands", no_commands),
            want_title=title_sessions.want,
            mcp_tools=ports.modules.port("mcp_tools", no_mcp_tools),
            keep_sandbox=sandbox.sandboxes.keep_alive,
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
            tools=tuple(tool.spec for tool in tools),
        )


def known_tools(modules: Sequence[Module] = MODULES) -> list[ToolSpec]:
    """All of the product that an agent may have here, also those for which something is not set."""
    local = _local_tools(lambda: datetime.now(UTC), _no_links)
    own = (
        *local,
        *_main_agent_tools(),
        task_tool(),
        *todo_tools(),
        *task_tools(),
        *team_tools(),
        *(tool for module in modules for tool in module.tools),
    )
    return [*(tool.spec for tool in own), *foreground_tools()]


def _local_tools(now: Callable[[], datetime], sign: LinkSigner) -> list[Tool]:
    return [
        LOAD_TOOLS,
        USE_TOOL_OF_FAMILY,
        THINK,
        utc_now(now),
        generate_download_url(sign),
        ask_user(),
    ]


def _main_agent_tools() -> list[Tool]:
    return [*plan_mode_tools(), PLAN_UPDATE, COMPACT]


async def _no_links(session_id: str, user_id: str, path: str, *, expires_s: int) -> SignedLink:
    raise NotImplementedError


def _link_signer(link_file: LinkFile, origin: str):
    async def sign(session_id: str, user_id: str, path: str, *, expires_s: int) -> SignedLink:
        link = await link_file(SessionId(session_id), UserId(user_id), path, expires_s)
        return SignedLink(url=f"{origin}/api/files/{link.token}", expires_at=link.expires_at)

    return sign


def _new_id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex}"
