"""Full-text search of messages and titles, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.kit.mongo.database import Database
from backend_api.module import Module, Parts
from backend_api.search.application import SearchMessages
from backend_api.search.http import router
from backend_api.search.mongo import DOCUMENTS, MongoMessageIndex


class SearchSettings(BaseSettings):
    """The module has no settings."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)


@asynccontextmanager
async def open_search(settings: SearchSettings, database: Database) -> AsyncGenerator[Parts]:
    """Open the search. Port: `search_messages`; its task indexes messages from before the first search."""
    del settings
    search = SearchMessages(index=MongoMessageIndex(database))
    yield Parts(ports={"search_messages": search}, tasks={"search": search.index_until_cancelled})


SEARCH = Module(
    name="search",
    description="Words of own messages and titles.",
    settings=SearchSettings,
    documents=DOCUMENTS,
    routes=[router],
    open=open_search,
)
