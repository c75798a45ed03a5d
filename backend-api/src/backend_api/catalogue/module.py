"""Tools, models and presets on offer, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.model import ModelInfo
from backend_api.agent.options import Effort, Options
from backend_api.agent.preset import Presets
from backend_api.agent.tool import Tool, ToolSpec
from backend_api.agent.tools.custom_tools import read_custom_tools
from backend_api.agent.tools.team import team_tools
from backend_api.catalogue.http import router
from backend_api.catalogue.presets import build_presets
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.module import Module, Parts, Planned
from backend_api.runs.agent_tools import known_tools


class CatalogueSettings(BaseSettings):
    """Settings from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    prompts_dir: Path | None = None
    default_preset: str = "general"
    tools_dir: Path | None = None
    max_turns: int = Field(default=50, ge=1)
    thinking_enabled: bool = False
    thinking_effort: Effort = "high"

    @property
    def session_defaults(self) -> Options:
        """The deployment's layer of session options."""
        return Options(
            preset=self.default_preset,
            max_turns=self.max_turns,
            enable_thinking=self.thinking_enabled or None,
            thinking_effort=self.thinking_effort,
        )


def plan_catalogue(settings: CatalogueSettings, models: Sequence[ModelInfo], module_tools: Sequence[Tool]) -> Planned:
    """Plan the module. The ports are `presets`, `session_defaults`, the deployment's `custom_tools`, and `known_tools`,
    the names that presets and kinds of agents may use. Raises `ValueError` that names file or setting, and the
    reason."""
    product = known_tools(module_tools)
    custom = read_custom_tools(settings.tools_dir, [tool.name for tool in product])
    known = [*product, *(tool.spec for tool in custom)]
    presets = build_presets(settings.prompts_dir, settings.session_defaults, models, known)
    return Planned(
        ports={
            "presets": presets,
            "session_defaults": settings.session_defaults,
            "custom_tools": custom,
            "known_tools": known,
        }
    )


@asynccontextmanager
async def open_catalogue(presets: Presets, session_defaults: Options) -> AsyncGenerator[Parts]:
    """Open the module. The ports are `tools`, a list to which the agent's tools are added once it is open, and `rules`,
    the deployment's rules for session options."""
    tools: list[ToolSpec] = []
    rules = OptionRules((), tools, session_defaults, presets, [tool.spec for tool in team_tools()])
    yield Parts(ports={"tools": tools, "rules": rules})


CATALOGUE = Module(
    name="catalogue",
    description="Tools, models, presets.",
    settings=CatalogueSettings,
    routes=[router],
    plan=plan_catalogue,
    open=open_catalogue,
)
