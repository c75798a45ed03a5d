"""The modules that every gateway has, each using those before it."""

from __future__ import annotations

from backend_api.catalogue.module import CATALOGUE
from backend_api.computers.module import SESSION_SANDBOXES
from backend_api.conversations.messages_module import MESSAGES
from backend_api.conversations.module import CONVERSATIONS
from backend_api.identity.module import IDENTITY
from backend_api.models.module import MODELS
from backend_api.module import Module
from backend_api.runs.agent_module import AGENT
from backend_api.runs.module import RUNS
from backend_api.runs.worker_module import WORKER
from backend_api.sandboxes.module import SANDBOXES
from backend_api.settings.module import SETTINGS
from backend_api.web.fetch.module import FETCH

CORE: tuple[Module, ...] = (
    IDENTITY,
    MODELS,
    CATALOGUE,
    SETTINGS,
    FETCH,
    CONVERSATIONS,
    SANDBOXES,
    RUNS,
    SESSION_SANDBOXES,
)
AGENT_OF_ALL: tuple[Module, ...] = (AGENT, WORKER, MESSAGES)
"""Opened after all modules that give the agent tools or capabilities."""
