"""The modules of the gateway, each on what those before it have. An optional one that is taken out is missing, and
nothing else."""

from __future__ import annotations

from backend_api.agents.module import AGENTS
from backend_api.background.module import BACKGROUND
from backend_api.branches.module import BRANCHES
from backend_api.control.module import CONTROL
from backend_api.files.module import FILES
from backend_api.folders.module import FOLDERS
from backend_api.main.core import AGENT_OF_ALL, CORE
from backend_api.mcp.module import MCP
from backend_api.memories.module import MEMORIES
from backend_api.module import Module
from backend_api.previews.module import PREVIEWS
from backend_api.research.module import RESEARCH
from backend_api.resources.module import RESOURCES
from backend_api.schedules.module import SCHEDULES
from backend_api.search.module import SEARCH
from backend_api.session_state.module import SESSION_STATE
from backend_api.sharing.module import SHARING
from backend_api.skills.module import SKILLS
from backend_api.targets.module import TARGETS
from backend_api.terminal.module import TERMINAL
from backend_api.web.module import WEB
from backend_api.writing.module import WRITING

OPTIONAL: tuple[Module, ...] = (
    WEB,
    AGENTS,
    SKILLS,
    SCHEDULES,
    MEMORIES,
    RESOURCES,
    RESEARCH,
    WRITING,
    BRANCHES,
    SHARING,
    SEARCH,
    FOLDERS,
    TARGETS,
    CONTROL,
    TERMINAL,
    FILES,
    BACKGROUND,
    PREVIEWS,
    MCP,
    SESSION_STATE,
)
MODULES: tuple[Module, ...] = (*CORE, *OPTIONAL, *AGENT_OF_ALL)
