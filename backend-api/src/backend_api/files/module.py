"""The editing of files, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.ports import EventLog, SessionRepository, SessionStream
from backend_api.files.application import EditFiles
from backend_api.files.http import router
from backend_api.files.ports import FileEditor
from backend_api.files.tool_api import ToolApiFileEditor
from backend_api.module import Module, Parts
from backend_api.sandboxes.ports import Sandboxes
from backend_api.sandboxes.tool_api.endpoints import Endpoints


@asynccontextmanager
async def open_files(
    *,
    sessions: SessionRepository,
    sandboxes: Sandboxes,
    log: EventLog,
    stream: SessionStream,
    endpoints: Endpoints,
    file_editor: FileEditor | None = None,
) -> AsyncGenerator[Parts]:
    """Open the module. The port `edit_files` is the use case of the routes."""
    edit = EditFiles(
        session_sandbox=SessionSandbox(sessions, sandboxes),
        editor=file_editor or ToolApiFileEditor(endpoints),
        log=log,
        stream=stream,
    )
    yield Parts(ports={"edit_files": edit})


FILES = Module(
    name="files",
    description="Files of conversations' computers, as their users edit them.",
    routes=[router],
    open=open_files,
)
