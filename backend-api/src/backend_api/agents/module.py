"""Kinds of sub-agents that users write, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.model import ModelInfo
from backend_api.agent.subagent_kinds import SubagentKind
from backend_api.agent.tool import ToolSpec
from backend_api.agents.application.change_kind import ChangeKind
from backend_api.agents.application.kinds_of_users import KindsOfUsers
from backend_api.agents.application.read_kinds import ReadKinds
from backend_api.agents.deployment_kinds import build_kinds
from backend_api.agents.http import router
from backend_api.agents.mongo.documents import DOCUMENTS
from backend_api.agents.mongo.subagent_kinds import MongoSubagentKinds
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.module import Module, Parts, Planned
from backend_api.settings.application.effective_settings import OpenEffectiveSettings


class AgentSettings(BaseSettings):
    """Settings from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    agents_dir: Path | None = None


def plan_agents(settings: AgentSettings, models: Sequence[ModelInfo], known_tools: Sequence[ToolSpec]) -> Planned:
    """The kinds that all users have, `shared_kinds`. Raises `ValueError` that names the file and the reason."""
    return Planned(ports={"shared_kinds": build_kinds(settings.agents_dir, models, known_tools)})


@asynccontextmanager
async def open_agents(
    *,
    shared_kinds: Sequence[SubagentKind],
    effective_settings: OpenEffectiveSettings,
    tools: Sequence[ToolSpec],
    limiter: RateLimiter,
    limits: Limits,
) -> AsyncGenerator[Parts]:
    """Open the module. The ports are the use cases of the routes, and `kinds`, the kinds that sub-agents may have."""
    own = MongoSubagentKinds()
    kinds = KindsOfUsers(shared_kinds, own)
    change = ChangeKind(
        kinds=kinds, own=own, effective_settings=effective_settings, tools=tools, limiter=limiter, limits=limits
    )
    yield Parts(ports={"kinds": kinds, "read_kinds": ReadKinds(kinds), "change_kind": change})


AGENTS = Module(
    name="agents",
    description="Kinds of sub-agents, of everybody and of the caller.",
    settings=AgentSettings,
    documents=DOCUMENTS,
    routes=[router],
    plan=plan_agents,
    open=open_agents,
)
