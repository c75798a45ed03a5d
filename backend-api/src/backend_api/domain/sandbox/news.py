"""What happens to computers while nobody asks for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from backend_api.domain.agent.events import Event, Notice, SandboxUpdated
from backend_api.domain.conversation.entity import SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputerNews:
    """One change of a session's computer. `order` grows with every change of it, also when it is rebuilt.

    `is_warning` tells of an end that comes near; one that is not `worth_telling` only takes back such a warning, or
    that it is paused.
    """

    session_id: SessionId
    order: int
    event: SandboxUpdated
    is_warning: bool = False
    worth_telling: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskNews:
    """A session's files take up nearly all they may. `order` grows with each such news of it."""

    session_id: SessionId
    order: int
    event: Notice


class NewsMarks(Protocol):
    """How far news were heard, over all gateways and their restarts. Raises `StoreUnavailableError`."""

    async def load(self) -> str | None: ...

    async def store(self, mark: str) -> None: ...


class NewsSource(Protocol):
    """Where news come from."""

    def follow(self) -> AbstractAsyncContextManager[AsyncIterator[ComputerNews | DiskNews]]:
        """Each change since any gateway heard one last, without hole over broken connections. Raises
        `ComputerUnavailableError`, also in the iterator."""
        ...


class NewsLog(Protocol):
    """Stores news in the session's stream."""

    async def append_once(self, news: ComputerNews | DiskNews) -> list[Event]:
        """Nothing when this or later news of the session were told already, by any process, or there is no session."""
        ...
