"""The modules of the gateway in the order in which they are opened: each may use the ports of those before it.

Removing an optional one removes its feature and nothing else. Which context may import which is another order:
`layers` in pyproject.toml.
"""

from __future__ import annotations

from backend_api.agents.module import AGENTS
from backend_api.background.module import BACKGROUND
from backend_api.branches.module import BRANCHES
from backend_api.changes.module import CHANGES
from backend_api.control.module import CONTROL
from backend_api.drafts.module import DRAFTS
from backend_api.files.module import FILES
from backend_api.folders.module import FOLDERS
from backend_api.main.core import AGENT_OF_ALL, CORE
from backend_api.mcp.module import MCP
from backend_api.memories.module import MEMORIES
from backend_api.message_queue.module import MESSAGE_QUEUE
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

_BEFORE_AGENT: tuple[Module, ...] = (
    WEB,
    AGENTS,
    SKILLS,
    SCHEDULES,
    MEMORIES,
    RESOURCES,
    RESEARCH,
    WRITING,
    BRANCHES,
    CHANGES,
    DRAFTS,
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
)
_AFTER_MESSAGES: tuple[Module, ...] = (MESSAGE_QUEUE, SESSION_STATE)
"""Those that use `send_message`, which is made after the agent: they have no tools and no capabilities."""
OPTIONAL: tuple[Module, ...] = (*_BEFORE_AGENT, *_AFTER_MESSAGES)
MODULES: tuple[Module, ...] = (*CORE, *_BEFORE_AGENT, *AGENT_OF_ALL, *_AFTER_MESSAGES)
