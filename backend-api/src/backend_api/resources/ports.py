"""What resources and tasks of a conversation stand on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from backend_api.agent.events import Event, TasksUpdated
from backend_api.kit.ids import SessionId, UserId
from backend_api.resources.domain import Resource


class Resources(Protocol):
    """Those of conversations. Each change tells the whole new value in the stream of its conversation."""

    async def of_session(self, session_id: SessionId) -> list[Resource]:
        """In the order in which they were added."""
        ...

    async def add(self, session_id: SessionId, user_id: UserId, resource: Resource) -> list[Event]:
        """Raises `SessionNotFoundError`, `TooManyResourcesError`."""
        ...

    async def change(
        self, session_id: SessionId, user_id: UserId, resource_id: str, change: Callable[[Resource], Resource]
    ) -> tuple[Resource, list[Event]]:
        """Raises `SessionNotFoundError`, `ResourceNotFoundError`, and what `change` raises."""
        ...

    async def remove(self, session_id: SessionId, user_id: UserId, resource_id: str) -> list[Event]:
        """Raises `SessionNotFoundError`, `ResourceNotFoundError`."""
        ...


class PersonTasks(Protocol):
    """The tasks of conversations, where the person changes them, whether a run is at work or not."""

    async def change(
        self, session_id: SessionId, user_id: UserId, change: Callable[[TasksUpdated], TasksUpdated]
    ) -> tuple[TasksUpdated, list[Event]]:
        """Made on all that is recorded by then. Raises `SessionNotFoundError`, and what `change` raises."""
        ...
