"""The modules of the gateway, each on what those before it have. One that is taken out is missing, and nothing else."""

from __future__ import annotations

from backend_api.folders.module import FOLDERS
from backend_api.memories.module import MEMORIES
from backend_api.module import Module
from backend_api.research.module import RESEARCH
from backend_api.schedules.module import SCHEDULES
from backend_api.search.module import SEARCH
from backend_api.sharing.module import SHARING

MODULES: tuple[Module, ...] = (SCHEDULES, MEMORIES, RESEARCH, SHARING, SEARCH, FOLDERS)
