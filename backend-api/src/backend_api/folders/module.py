"""Folders of conversations, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.conversations.ports import SessionRepository
from backend_api.folders.application import ChangeFolders
from backend_api.folders.capability import folder_capability
from backend_api.folders.domain import Folder
from backend_api.folders.http import router
from backend_api.folders.mongo import FolderDocument, MongoFolders
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database
from backend_api.module import Module, Parts


class FolderSettings(BaseSettings):
    """The module has no settings."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)


@asynccontextmanager
async def open_folders(
    *,
    settings: FolderSettings,
    database: Database,
    sessions: SessionRepository,
    limiter: RateLimiter,
    limits: Limits,
    clock: Callable[[], float],
) -> AsyncGenerator[Parts]:
    """Open the module. The port is `change_folders`."""
    del settings
    folders = MongoFolders(database)

    async def folder_of(user_id: UserId, session_id: SessionId) -> Folder | None:
        return await folders.of_session(session_id, user_id)

    change = ChangeFolders(folders=folders, sessions=sessions, limiter=limiter, limits=limits, clock=clock)
    yield Parts(ports={"change_folders": change}, capabilities=[folder_capability(folder_of)])


FOLDERS = Module(
    name="folders",
    description="Folders of conversations, with instructions for the work in them.",
    settings=FolderSettings,
    documents=[FolderDocument],
    routes=[router],
    open=open_folders,
)
