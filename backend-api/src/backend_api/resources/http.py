"""Routes of a conversation's resources, and of its tasks as the person changes them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import Field

from backend_api.agent.events import ResourceKind, Task, TaskPriority, TaskStatus
from backend_api.agent.tasks import TaskChange
from backend_api.agent.tools.tasks import MAX_DESCRIPTION_CHARACTERS, MAX_LINE_CHARACTERS
from backend_api.identity.http.caller import SESSION_CHANGE, CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.kit.ids import SessionId
from backend_api.resources.application import ChangeTasks, KeepResources
from backend_api.resources.domain import (
    MAX_CONTENT_CHARACTERS,
    MAX_LINK_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    Changes,
    Draft,
    Resource,
)
from backend_api.resources.task_bodies import TaskBody

router = APIRouter(prefix="/api/sessions/{session_id}", tags=["resources"])
Kept = Annotated[KeepResources, port("resources")]
Tasks = Annotated[ChangeTasks, port("change_tasks")]
ResourceId = Annotated[str, Path(max_length=40)]
TaskId = Annotated[str, Path(max_length=20)]


class KeptResourceBody(AnswerBody):
    id: str
    kind: ResourceKind
    title: str
    link: str
    characters: int = Field(description="Of the text that is kept with it.")
    added_by: Literal["agent", "person"]
    updated_at: Time
    version: int

    @classmethod
    def of(cls, resource: Resource) -> KeptResourceBody:
        """The answer without the text."""
        return cls.model_validate(resource.listed())


class ResourceBody(KeptResourceBody):
    content: str

    @classmethod
    def of(cls, resource: Resource) -> ResourceBody:
        """The answer with the text."""
        listed = KeptResourceBody.model_validate(resource.listed())
        return cls(**listed.model_dump(), content=resource.content)


class ResourcesBody(AnswerBody):
    items: list[KeptResourceBody]


class AddResourceBody(RequestBody):
    title: str = Field(min_length=1, max_length=MAX_TITLE_CHARACTERS)
    kind: ResourceKind
    link: str = Field(default="", max_length=MAX_LINK_CHARACTERS)
    content: str = Field(default="", max_length=MAX_CONTENT_CHARACTERS)


class ChangeResourceBody(RequestBody):
    title: str | None = Field(default=None, min_length=1, max_length=MAX_TITLE_CHARACTERS)
    kind: ResourceKind | None = None
    link: str | None = Field(default=None, max_length=MAX_LINK_CHARACTERS)
    content: str | None = Field(default=None, max_length=MAX_CONTENT_CHARACTERS)
    version: int | None = Field(default=None, ge=1, description="The one it was read as: 412 where it is another.")


class AddTaskBody(RequestBody):
    subject: str = Field(min_length=1, max_length=MAX_LINE_CHARACTERS, pattern=r"^[^\r\n]*\S[^\r\n]*$")
    description: str = Field(default="", max_length=MAX_DESCRIPTION_CHARACTERS)
    priority: TaskPriority = "normal"


class ChangeTaskBody(RequestBody):
    subject: str | None = Field(
        default=None, min_length=1, max_length=MAX_LINE_CHARACTERS, pattern=r"^[^\r\n]*\S[^\r\n]*$"
    )
    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION_CHARACTERS)
    priority: TaskPriority | None = None
    status: TaskStatus | None = None


@router.get("/resources")
async def list_resources(session_id: str, caller: CurrentCaller, resources: Kept) -> ResourcesBody:
    """List the resources that agent and person keep with the conversation, in the order in which they were added."""
    kept = await resources.all(SessionId(session_id), caller.user.id)
    return ResourcesBody(items=[KeptResourceBody.of(one) for one in kept])


@router.post(
    "/resources",
    status_code=201,
    responses={409: {}},
    dependencies=[SESSION_CHANGE],
    openapi_extra=with_example(
        {
            "title": "Attention is all you need",
            "kind": "paper",
            "link": "https://doi.org/10.48550/arxiv.1706.03762",
        }
    ),
)
async def add_resource(session_id: str, body: AddResourceBody, caller: CurrentCaller, resources: Kept) -> ResourceBody:
    """Add a resource to the conversation: a link (for a file its path in the workspace), a text, or both."""
    draft = Draft(title=body.title, kind=body.kind, link=body.link, content=body.content)
    return ResourceBody.of(await resources.add(SessionId(session_id), caller.user.id, draft, added_by="person"))


@router.get("/resources/{resource_id}")
async def get_resource(
    session_id: str, resource_id: ResourceId, caller: CurrentCaller, resources: Kept
) -> ResourceBody:
    """Return one resource with its text."""
    return ResourceBody.of(await resources.find(SessionId(session_id), caller.user.id, resource_id))


@router.patch(
    "/resources/{resource_id}",
    responses={412: {}},
    dependencies=[SESSION_CHANGE],
    openapi_extra=with_example({"title": "Attention is all you need", "version": 2}),
)
async def change_resource(
    session_id: str, resource_id: ResourceId, body: ChangeResourceBody, caller: CurrentCaller, resources: Kept
) -> ResourceBody:
    """Change a resource; fields that are left out stay as they are."""
    changes = Changes(title=body.title, kind=body.kind, link=body.link, content=body.content)
    return ResourceBody.of(
        await resources.change(SessionId(session_id), caller.user.id, resource_id, changes, version=body.version)
    )


@router.delete("/resources/{resource_id}", status_code=204, dependencies=[SESSION_CHANGE])
async def remove_resource(session_id: str, resource_id: ResourceId, caller: CurrentCaller, resources: Kept) -> None:
    """Remove a resource."""
    await resources.remove(SessionId(session_id), caller.user.id, resource_id)


@router.post(
    "/tasks",
    status_code=201,
    responses={409: {}},
    dependencies=[SESSION_CHANGE],
    openapi_extra=with_example({"subject": "Read the two newest papers", "priority": "high"}),
)
async def add_task(session_id: str, body: AddTaskBody, caller: CurrentCaller, change_tasks: Tasks) -> TaskBody:
    """Add a task to those that the conversation's agents share. The agent of an active run sees it before its next
    answer."""
    task = Task(id="", subject=body.subject.strip(), description=body.description, priority=body.priority)
    return TaskBody.model_validate(await change_tasks.add(SessionId(session_id), caller.user.id, task))


@router.patch(
    "/tasks/{task_id}",
    responses={409: {}},
    dependencies=[SESSION_CHANGE],
    openapi_extra=with_example({"priority": "low", "status": "completed"}),
)
async def change_task(
    session_id: str, task_id: TaskId, body: ChangeTaskBody, caller: CurrentCaller, change_tasks: Tasks
) -> TaskBody:
    """Change a task, or complete it; fields that are left out stay as they are."""
    change = TaskChange(
        subject=None if body.subject is None else body.subject.strip(),
        description=body.description,
        priority=body.priority,
        status=body.status,
    )
    return TaskBody.model_validate(await change_tasks.change(SessionId(session_id), caller.user.id, task_id, change))


@router.delete("/tasks/{task_id}", status_code=204, dependencies=[SESSION_CHANGE])
async def delete_task(session_id: str, task_id: TaskId, caller: CurrentCaller, change_tasks: Tasks) -> None:
    """Delete a task; tasks that it blocked wait for it no longer."""
    await change_tasks.delete(SessionId(session_id), caller.user.id, task_id)
