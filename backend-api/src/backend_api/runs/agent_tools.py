"""The product's tools that belong to no module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from backend_api.agent.tool import Tool, ToolSpec
from backend_api.agent.tools.ask_user import ask_user
from backend_api.agent.tools.compact import COMPACT
from backend_api.agent.tools.plan_mode import plan_mode_tools
from backend_api.agent.tools.plan_update import PLAN_UPDATE
from backend_api.agent.tools.task import task_tool
from backend_api.agent.tools.tasks import task_tools
from backend_api.agent.tools.team import team_tools
from backend_api.agent.tools.think import THINK
from backend_api.agent.tools.todos import todo_tools
from backend_api.agent.tools.tool_families import LOAD_TOOLS, USE_TOOL_OF_FAMILY
from backend_api.agent.tools.utc_now import utc_now
from backend_api.computers.tools import LinkSigner, SignedLink, generate_download_url
from backend_api.sandboxes.tools import foreground_tools


def local_tools(now: Callable[[], datetime], sign: LinkSigner) -> list[Tool]:
    """Tools for all agents that need nothing but the gateway."""
    return [LOAD_TOOLS, USE_TOOL_OF_FAMILY, THINK, utc_now(now), generate_download_url(sign), ask_user()]


def main_agent_tools() -> list[Tool]:
    """Tools for the agent that a person talks to."""
    return [*plan_mode_tools(), PLAN_UPDATE, COMPACT]


def known_tools(module_tools: Sequence[Tool]) -> list[ToolSpec]:
    """Every tool of the product that an agent may have, modules' tools included, even where a setting that the tool
    needs is missing."""
    own = (
        *local_tools(lambda: datetime.now(UTC), _no_links),
        *main_agent_tools(),
        task_tool(),
        *todo_tools(),
        *task_tools(),
        *team_tools(),
        *module_tools,
    )
    return [*(tool.spec for tool in own), *foreground_tools()]


async def _no_links(session_id: str, user_id: str, path: str, *, expires_s: int) -> SignedLink:
    raise NotImplementedError
