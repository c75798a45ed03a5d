"""The agent as a module of the gateway: its tools and capabilities, together with those of other modules."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.capability import Capability, Setup, ToolSource, tools_of
from backend_api.agent.model import MAX_OUTPUT_TOKENS
from backend_api.agent.options import Options
from backend_api.agent.tool import Tool, ToolSpec
from backend_api.agent.tools.local import LocalTools, MainAgentTools
from backend_api.agent.tools.task import TaskTool
from backend_api.agent.tools.tasks import task_tools
from backend_api.agent.tools.team import TeamTools
from backend_api.agent.tools.todos import todo_tools
from backend_api.computers.tools import LinkSigner
from backend_api.conversations.application.agent_files import AgentFiles
from backend_api.conversations.application.mirror_tasks import WITHIN_S, MirrorTasks
from backend_api.module import Module, Parts
from backend_api.runs.agent_tools import local_tools, main_agent_tools
from backend_api.runs.capabilities import (
    APPROVAL_TIMEOUT_S,
    COMPACT_THRESHOLD,
    MAX_TOKEN_BUDGET,
    MICRO_COMPACT_MIN_TOKENS,
    capabilities,
)
from backend_api.sandboxes.ports import ConfigurationOf, RemoteHosts, Sandboxes, SandboxTools, Workspace
from backend_api.sandboxes.remote import HostRoutes
from backend_api.sandboxes.tools import PlaceSkills, SandboxToolSource, foreground_tools, no_folders


class AgentSettings(BaseSettings):
    """Settings read from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    max_token_budget: int = Field(default=MAX_TOKEN_BUDGET, ge=1)
    max_run_minutes: float | None = Field(default=None, gt=0, le=5_256_000)
    compact_threshold: float = Field(default=COMPACT_THRESHOLD, gt=0, lt=1)
    micro_compact_min_tokens: int = Field(default=MICRO_COMPACT_MIN_TOKENS, ge=1)
    max_output_tokens: int = Field(default=MAX_OUTPUT_TOKENS, ge=1)
    approval_timeout: float = Field(default=APPROVAL_TIMEOUT_S, ge=1.0, le=31_536_000.0)


@asynccontextmanager
async def open_agent(
    *,
    settings: AgentSettings,
    clock: Callable[[], float],
    tools: list[ToolSpec],
    session_defaults: Options,
    custom_tools: Sequence[Tool],
    tool_sources: Sequence[ToolSource],
    module_capabilities: Sequence[Capability],
    max_run_cost: float | None,
    max_teammates: int,
    sign_link: LinkSigner,
    sandboxes: Sandboxes,
    workspace: Workspace,
    sandbox_tools: SandboxTools,
    place_skills: PlaceSkills = no_folders,
    host_routes: HostRoutes | None = None,
    remote_hosts: RemoteHosts | None = None,
    sandbox_configurations: ConfigurationOf | None = None,
) -> AsyncGenerator[Parts]:
    """Open the agent. Ports: `agent_capabilities`, `mirror_tasks` and `max_output_tokens`. The specifications of its
    tools are added to `tools`."""

    def now() -> datetime:
        return datetime.fromtimestamp(clock(), UTC)

    if host_routes is not None:
        # The module with the users' hosts opens before this one; the routes opened before that get them here.
        host_routes.hosts = remote_hosts
        host_routes.configurations = sandbox_configurations
    mirror_tasks = MirrorTasks(AgentFiles(sandboxes, workspace, within_s=WITHIN_S))
    table = capabilities(
        LocalTools(local_tools(now, sign_link)),
        MainAgentTools(main_agent_tools()),
        TaskTool(),
        LocalTools(todo_tools()),
        LocalTools(task_tools(mirror_tasks)),
        TeamTools(max_teammates),
        SandboxToolSource(foreground_tools(), sandboxes, sandbox_tools, place_skills=place_skills),
        LocalTools(custom_tools),
        *tool_sources,
        of_modules=module_capabilities,
        max_tokens=settings.max_token_budget,
        max_output_tokens=settings.max_output_tokens,
        max_cost=max_run_cost,
        max_minutes=settings.max_run_minutes,
        compact_threshold=settings.compact_threshold,
        micro_compact_min_tokens=settings.micro_compact_min_tokens,
        approval_timeout_s=settings.approval_timeout,
    )
    tools += [tool.spec for tool in await tools_of(table, Setup(now=now, options=session_defaults))]
    yield Parts(
        ports={
            "agent_capabilities": table,
            "mirror_tasks": mirror_tasks,
            "max_output_tokens": settings.max_output_tokens,
        }
    )


AGENT = Module(
    name="agent",
    description="The tools and capabilities of the agent.",
    settings=AgentSettings,
    open=open_agent,
)
