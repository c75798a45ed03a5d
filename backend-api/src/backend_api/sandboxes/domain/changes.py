"""Changes of sandboxes that no caller waits for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from backend_api.agent.events import Event, Notice, SandboxUpdated
from backend_api.kit.ids import SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxChange:
    """One change of a session's sandbox. `order` grows with every change of it, also when it is rebuilt.

    `is_warning` announces that it ends soon. A change that is not `worth_telling` is stored only if it revokes such a
    warning or a pause, or ends a start that no run waits for any more; one that `takes_back_start` only if the last
    change stored is a start.
    """

    session_id: SessionId
    order: int
    event: SandboxUpdated
    is_warning: bool = False
    worth_telling: bool = True
    takes_back_start: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskWarning:
    """A session's files nearly reach their limit. `order` grows with each such warning."""

    session_id: SessionId
    order: int
    event: Notice


class ChangeCursor(Protocol):
    """The last change that any gateway has read; it survives their restarts. Raises `StoreUnavailableError`."""

    async def load(self) -> str | None: ...

    async def store(self, cursor: str) -> None: ...


class SandboxChangeSource(Protocol):
    """The stream of changes from the sandbox manager."""

    def subscribe(self) -> AbstractAsyncContextManager[AsyncIterator[SandboxChange | DiskWarning]]:
        """Each change since the last one that any gateway received, without gaps over broken connections. Raises
        `SandboxUnavailableError`, also in the iterator."""
        ...


class SandboxChangeLog(Protocol):
    """Stores changes in the session's stream."""

    async def append_once(self, change: SandboxChange | DiskWarning) -> list[Event]:
        """Store the change. Empty if this or a later change is stored already, by any process, or there is no
        session."""
        ...
