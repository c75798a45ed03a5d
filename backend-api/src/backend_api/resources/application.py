"""Use cases for a conversation's resources and tasks."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from backend_api.agent.events import Task, TasksUpdated
from backend_api.agent.tasks import (
    TaskChange,
    TasksRefusedError,
    changed_by_person,
    task_of,
    with_change,
    with_task,
    without_task,
)
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.kit.ids import SessionId, UserId
from backend_api.resources.domain import AddedBy, Changes, Draft, Resource
from backend_api.resources.errors import (
    ResourceChangedError,
    ResourceNotFoundError,
    TaskNotFoundError,
    TaskRefusedError,
)
from backend_api.resources.ports import PersonTasks, Resources


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepResources:
    """Resources of a user's own conversations; for those of others it raises `SessionNotFoundError`."""

    sessions: SessionRepository
    store: Resources
    stream: SessionStream
    clock: Callable[[], datetime] = _now

    async def all(self, session_id: SessionId, user_id: UserId) -> list[Resource]:
        """The resources in the order in which they were added."""
        await self.sessions.get(session_id, user_id)
        return await self.store.of_session(session_id)

    async def find(self, session_id: SessionId, user_id: UserId, resource_id: str) -> Resource:
        """Raises `ResourceNotFoundError`."""
        found = next((one for one in await self.all(session_id, user_id) if one.id == resource_id), None)
        if found is None:
            raise ResourceNotFoundError("This conversation has no such resource.")
        return found

    async def add(self, session_id: SessionId, user_id: UserId, draft: Draft, *, added_by: AddedBy) -> Resource:
        """Raises `ResourceInvalidError`, `TooManyResourcesError`."""
        await self.sessions.get(session_id, user_id)
        checked, now = draft.checked(), self.clock()
        resource = Resource(
            id=uuid.uuid4().hex[:12],
            kind=checked.kind,
            title=checked.title,
            link=checked.link,
            content=checked.content,
            added_by=added_by,
            added_at=now,
            updated_at=now,
        )
        await self.stream.append(session_id, await self.store.add(session_id, user_id, resource))
        return resource

    async def change(
        self, session_id: SessionId, user_id: UserId, resource_id: str, changes: Changes, *, version: int | None = None
    ) -> Resource:
        """Change a resource; if `version` is given, only if it is still the current one. Raises
        `ResourceNotFoundError`, `ResourceInvalidError`, `ResourceChangedError`."""
        await self.sessions.get(session_id, user_id)

        def change(present: Resource) -> Resource:
            if version not in (None, present.version):
                raise ResourceChangedError("It was changed since you read it. Read it again, then change it.")
            return present.changed(changes)

        changed, events = await self.store.change(session_id, user_id, resource_id, change)
        await self.stream.append(session_id, events)
        return changed

    async def remove(self, session_id: SessionId, user_id: UserId, resource_id: str) -> None:
        """Raises `ResourceNotFoundError`."""
        await self.sessions.get(session_id, user_id)
        await self.stream.append(session_id, await self.store.remove(session_id, user_id, resource_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTasks:
    """Changes of a conversation's tasks by the person; an active run continues with them, and its agent sees them
    before its next answer. Raises `SessionNotFoundError`, `TaskRefusedError`."""

    sessions: SessionRepository
    tasks: PersonTasks
    stream: SessionStream

    async def add(self, session_id: SessionId, user_id: UserId, task: Task) -> Task:
        """Add a task with the next number."""
        update = await self._change(session_id, user_id, lambda known: with_task(known, task))
        return update.tasks[-1]

    async def change(self, session_id: SessionId, user_id: UserId, task_id: str, change: TaskChange) -> Task:
        """Raises `TaskNotFoundError`."""

        def changed(known: TasksUpdated) -> TasksUpdated:
            _require_task(known, task_id)
            return with_change(known, task_id, change, though_blocked=True)

        return task_of((await self._change(session_id, user_id, changed)).tasks, task_id)

    async def delete(self, session_id: SessionId, user_id: UserId, task_id: str) -> None:
        """Raises `TaskNotFoundError`."""

        def changed(known: TasksUpdated) -> TasksUpdated:
            _require_task(known, task_id)
            return without_task(known, task_id)

        await self._change(session_id, user_id, changed)

    async def _change(
        self, session_id: SessionId, user_id: UserId, change: Callable[[TasksUpdated], TasksUpdated]
    ) -> TasksUpdated:
        await self.sessions.get(session_id, user_id)
        try:
            update, events = await self.tasks.change(
                session_id, user_id, lambda known: changed_by_person(known, change)
            )
        except TasksRefusedError as refused:
            raise TaskRefusedError(f"Nothing was changed: {refused}") from refused
        await self.stream.append(session_id, events)
        return update


def _require_task(known: TasksUpdated, task_id: str) -> None:
    if all(task.id != task_id for task in known.tasks):
        raise TaskNotFoundError("This conversation has no such task any more.")
