"""Memories of a person from session to session, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.kit.masking import Mask
from backend_api.memories.application import ChangeMemories
from backend_api.memories.capability import memories_capability
from backend_api.memories.http import router
from backend_api.memories.mongo import MemoriesDocument, MongoMemories
from backend_api.memories.tools import MemoryTools, memory_tools
from backend_api.module import Module, Parts
from backend_api.settings.application.open_settings import OpenSettings


class MemorySettings(BaseSettings):
    """Settings from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    enable_memory: bool = True


@asynccontextmanager
async def open_memories(settings: MemorySettings, mask: Mask, open_settings: OpenSettings) -> AsyncGenerator[Parts]:
    """Open the module. The port `memories` is a `ChangeMemories`."""
    memories = ChangeMemories(
        store=MongoMemories(), mask=mask, open_settings=open_settings, is_enabled=settings.enable_memory
    )
    yield Parts(
        ports={"memories": memories}, tools=[MemoryTools(memories)], capabilities=[memories_capability(memories.files)]
    )


MEMORIES = Module(
    name="memories",
    description="What the agent remembers of its user from session to session.",
    settings=MemorySettings,
    documents=[MemoriesDocument],
    routes=[router],
    tools=memory_tools(None),
    open=open_memories,
)
