"""Ports that a conversation's resources and tasks need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from backend_api.agent.events import Event, TasksUpdated
from backend_api.kit.ids import SessionId, UserId
from backend_api.resources.domain import Resource


class Resources(Protocol):
    """The resources of conversations. Each change stores an event with the whole new list in the conversation's
    stream."""

    async def of_session(self, session_id: SessionId) -> list[Resource]:
        """The resources in the order in which they were added."""
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
    """The tasks of conversations as changed by the person, whether a run is active or not."""

    async def change(
        self, session_id: SessionId, user_id: UserId, change: Callable[[TasksUpdated], TasksUpdated]
    ) -> tuple[TasksUpdated, list[Event]]:
        """Apply the change to the latest recorded tasks. Raises `SessionNotFoundError`, and what `change` raises."""
        ...
