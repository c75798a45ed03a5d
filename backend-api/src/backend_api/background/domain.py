"""Background commands of a session's sandbox, as stored while no call waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from backend_api.agent.events import BackgroundEnd, Event, FilesChanged
from backend_api.agent.new_events import NewEvent
from backend_api.kit.errors import ConflictError, NotFoundError
from backend_api.kit.ids import SessionId, UserId

MAX_WAKES = 20
"""The most runs that results may begin before the person's next message: a result that starts the next command would go
on for ever."""


class BackgroundNotFoundError(NotFoundError):
    """No such background command in this session."""

    code = "background_not_found"


class TooManyBackgroundError(ConflictError):
    """The session has as many running commands as allowed."""

    code = "too_many_background_commands"

    @classmethod
    def of(cls, running: Sequence[str]) -> TooManyBackgroundError:
        return cls(f"{len(running)} background commands are running, which is the maximum: {', '.join(running)}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundCommand:
    """A command started in the sandbox's `generation`. It is open until `state` holds how it ended. While `is_begun` is
    false it is not known whether the sandbox has it."""

    id: str
    session_id: SessionId
    user_id: UserId
    call_id: str
    command: str
    generation: int
    timeout_s: int
    began_at: datetime
    is_begun: bool = False
    stop_wanted: bool = False
    state: BackgroundEnd | None = None
    exit_code: int | None = None
    preview: str = ""
    ended_at: datetime | None = None
    read_by: str | None = None
    """The call whose result contained its end; None if a note tells the model."""


class BackgroundCommands(Protocol):
    """The commands of all sessions: more than seven methods, as each is a step of one life. The first caller that
    settles a command records its end, whoever else tries at the same moment."""

    async def begin(self, command: BackgroundCommand) -> None:
        """Store it before it is started, to be polled once its start must be over. Raises `TooManyBackgroundError`."""
        ...

    async def confirm(self, background_id: str) -> None:
        """Mark that the sandbox has it: it is polled from now on."""
        ...

    async def drop(self, background_id: str) -> None:
        """Remove a command that was never started."""
        ...

    async def get(self, session_id: SessionId, background_id: str) -> BackgroundCommand:
        """The command. Raises `BackgroundNotFoundError`."""
        ...

    async def of_session(self, session_id: SessionId, *, ended: int) -> list[BackgroundCommand]:
        """The open ones, then the last `ended` ones that ended, each the newest first."""
        ...

    async def request_end(self, session_id: SessionId, background_id: str | None = None) -> list[BackgroundCommand]:
        """Store the request to end one, or all of a session; returns those that are open."""
        ...

    async def claim(self, *, lease_s: float, limit: int) -> list[BackgroundCommand]:
        """Open commands that nobody polls; nobody else gets them until the lease is over."""
        ...

    async def release(self, background_id: str, *, for_s: float = 0.0) -> None:
        """Make it due for a poll again in `for_s` seconds."""
        ...

    async def settle(
        self, command: BackgroundCommand, told: NewEvent, *, wakes: bool, changed: FilesChanged | None = None
    ) -> list[Event]:
        """Store its end with a `BackgroundFinished` event, and the files it `changed`. One that `wakes` is read like a
        message: a current run goes on to read it, and an idle session gets a new run, whose event is then the last one;
        but not if a stop was requested. Returns no events if it was settled before, or its session is gone."""
        ...
