"""The gateway's modules, as tests need them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from beanie import Document
from pydantic_settings import BaseSettings

from backend_api.agent.capability import Capability
from backend_api.agent.tool import ToolSpec
from backend_api.background.capability import BACKGROUND
from backend_api.folders.capability import folder_capability
from backend_api.kit.ids import SessionId, UserId
from backend_api.main.modules import MODULES
from backend_api.module import Module
from backend_api.runs import agent_tools
from backend_api.skills.capability import skills_capability
from backend_api.targets.capability import target_capability
from support.of_modules import ALL

MODULE_DOCUMENTS: Sequence[type[Document]] = [one for module in MODULES for one in module.documents]


def known_tools(modules: Sequence[Module] = MODULES) -> list[ToolSpec]:
    """All that an agent may have with these modules."""
    return agent_tools.known_tools([tool for module in modules for tool in module.tools])


_NOWHERE = dict.fromkeys(
    ("openalex", "semantic_scholar", "arxiv", "crossref", "unpaywall", "hugging_face", "papers_with_code"),
    "http://127.0.0.1:9",
)
"""No address that anything is fetched from."""


def module_settings(
    modules: Sequence[Module],
    source_urls: Mapping[str, str] | None = None,
    preview_domain: str = "",
    mcp_hosts: Sequence[str] = (),
) -> dict[str, BaseSettings]:
    """Of each, by its name. Sources of papers are at these addresses: no test asks the real ones."""
    own: dict[str, dict[str, Any]] = {
        "research": {"research_source_urls": dict(source_urls or _NOWHERE)},
        "mcp": {"mcp_allowed_hosts": tuple(mcp_hosts)},
        "previews": {"preview_domain": preview_domain or "off"},
    }
    environment = _environment()

    def read(module: Module) -> BaseSettings:
        if module.name in own:
            return module.settings(**own[module.name])
        return _from_environment(module.settings, environment)

    return {module.name: read(module) for module in modules}


@cache
def _from_environment(settings: type[BaseSettings], environment: frozenset[tuple[str, str]]) -> BaseSettings:
    """Read once for each environment: reading those of all modules takes a quarter of what opens a gateway."""
    del environment
    return settings()


def _environment() -> frozenset[tuple[str, str]]:
    """All variables but the one that pytest changes with each test."""
    return frozenset(one for one in os.environ.items() if one[0] != "PYTEST_CURRENT_TEST")


async def nothing_loaded(user_id: UserId) -> Sequence[Any]:
    """What a capability loads of a user who has nothing."""
    del user_id
    return ()


async def no_folder(user_id: UserId, session_id: SessionId) -> None:
    """No conversation is in one."""
    del user_id, session_id


async def no_target(session_id: SessionId) -> None:
    """No conversation chose one."""
    del session_id


OF_MODULES: Sequence[Capability] = [
    skills_capability(nothing_loaded, ()),
    *(one.capability for one in ALL),
    folder_capability(no_folder),
    target_capability(no_target),
    BACKGROUND,
]
"""What modules add to the agent, of a user who has nothing."""
