"""Folders of conversations, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.conversations.ports import EventLog, SessionRepository, SessionStream
from backend_api.folders.application.change_folders import ChangeFolders
from backend_api.folders.application.folder_files import ChangeFolderFiles
from backend_api.folders.application.place_files import PlaceFolderFiles
from backend_api.folders.capability import folder_capability
from backend_api.folders.domain import FolderOfSession
from backend_api.folders.http import files as file_routes
from backend_api.folders.http import folders as folder_routes
from backend_api.folders.mongo.files import DOCUMENTS, MongoFolderFiles, MongoPlacements
from backend_api.folders.mongo.folders import FolderDocument, MongoFolders
from backend_api.identity.application.limits import Limits, Quotas
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.database import Database
from backend_api.module import Module, Parts
from backend_api.sandboxes.ports import Workspace
from backend_api.sandboxes.remote import Arrivals


class FolderSettings(BaseSettings):
    """The module has no settings."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)


@asynccontextmanager
async def open_folders(
    *,
    settings: FolderSettings,
    database: Database,
    sessions: SessionRepository,
    log: EventLog,
    stream: SessionStream,
    workspace: Workspace,
    arrivals: Arrivals,
    limiter: RateLimiter,
    limits: Limits,
    quotas: Quotas,
    clock: Callable[[], float],
) -> AsyncGenerator[Parts]:
    """Open the module. Ports: `change_folders` and `change_folder_files`. Files of folders arrive in sandboxes."""
    del settings
    folders, files = MongoFolders(database), MongoFolderFiles(database)

    async def folder_of(user_id: UserId, session_id: SessionId) -> FolderOfSession | None:
        folder = await folders.of_session(session_id, user_id)
        if folder is None:
            return None
        return FolderOfSession(folder=folder, file_names=tuple(one.name for one in await files.of_folder(folder.id)))

    arrivals.place = PlaceFolderFiles(
        folders=folders, files=files, placements=MongoPlacements(), workspace=workspace, log=log, stream=stream
    )
    change = ChangeFolders(folders=folders, files=files, sessions=sessions, limiter=limiter, limits=limits, clock=clock)
    change_files = ChangeFolderFiles(folders=folders, files=files, most_of_user=quotas.folder_files_mb * 1024**2)
    yield Parts(
        ports={"change_folders": change, "change_folder_files": change_files},
        capabilities=[folder_capability(folder_of)],
    )


FOLDERS = Module(
    name="folders",
    description="Folders of conversations, with instructions and files for the work in them.",
    settings=FolderSettings,
    documents=[FolderDocument, *DOCUMENTS],
    routes=[folder_routes.router, file_routes.router],
    open=open_folders,
)
