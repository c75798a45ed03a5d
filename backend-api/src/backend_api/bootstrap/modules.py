"""The modules of the gateway, each on what those before it have. One that is taken out is missing, and nothing else."""

from __future__ import annotations

from backend_api.kit.module import Module
from backend_api.memories.module import MEMORIES
from backend_api.research.module import RESEARCH

MODULES: tuple[Module, ...] = (MEMORIES, RESEARCH)
