"""Resources and tasks of conversations, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.agent.tools.local import LocalTools
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.kit.mongo.database import Database
from backend_api.module import Module, Parts
from backend_api.resources.application import ChangeTasks, KeepResources
from backend_api.resources.http import router
from backend_api.resources.mongo import MongoPersonTasks, MongoResources, ResourceDocument
from backend_api.resources.tools import resource_tools


@asynccontextmanager
async def open_resources(
    *, database: Database, sessions: SessionRepository, stream: SessionStream
) -> AsyncGenerator[Parts]:
    """Open the module. Ports: `resources`, a `KeepResources`; `change_tasks`, a `ChangeTasks`; and `kept_resources`,
    which reads them for a page that opens."""
    store = MongoResources(database)
    resources = KeepResources(sessions=sessions, store=store, stream=stream)
    tasks = ChangeTasks(sessions=sessions, tasks=MongoPersonTasks(database), stream=stream)
    yield Parts(
        ports={"resources": resources, "kept_resources": store, "change_tasks": tasks},
        tools=[LocalTools(resource_tools(resources))],
    )


RESOURCES = Module(
    name="resources",
    description="What agent and person keep with a conversation, and its tasks as the person changes them.",
    documents=[ResourceDocument],
    routes=[router],
    tools=resource_tools(None),
    open=open_resources,
)
