"""Commands that run in the background of a session's sandbox, as they are kept while nobody waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from backend_api.agent.events import BackgroundEnd, Event, FilesChanged
from backend_api.agent.recorded import Recorded
from backend_api.kit.errors import ConflictError, NotFoundError
from backend_api.kit.ids import SessionId, UserId

MAX_WAKES = 20
"""Runs that results alone may begin before the person says something again: a result that starts the next command
would go on for ever."""


class BackgroundNotFoundError(NotFoundError):
    """No such background command in this session."""

    code = "background_not_found"


class TooManyBackgroundError(ConflictError):
    """As many of a session run as may."""

    code = "too_many_background_commands"

    @classmethod
    def of(cls, running: Sequence[str]) -> TooManyBackgroundError:
        return cls(
            f"{len(running)} background commands are running, and there may be no more at a time: {', '.join(running)}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundCommand:
    """One that was started in the sandbox's `generation`. It is open until `state` says how it ended. While `is_begun`
    is false nobody knows yet whether the sandbox has it."""

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
    """The call whose result told how it ended; None: it is told by itself."""


class BackgroundCommands(Protocol):
    """Those of all sessions: more than seven methods, as each is a step of one life. Whoever settles one first tells of
    it, whoever else tries at the same moment."""

    async def begin(self, command: BackgroundCommand) -> None:
        """Keep it before it is started, and look at it once its start must be over. Raises
        `TooManyBackgroundError`."""
        ...

    async def confirm(self, background_id: str) -> None:
        """The sandbox has it: it is looked at from now on."""
        ...

    async def drop(self, background_id: str) -> None:
        """It was never started."""
        ...

    async def get(self, session_id: SessionId, background_id: str) -> BackgroundCommand:
        """Raises `BackgroundNotFoundError`."""
        ...

    async def of_session(self, session_id: SessionId, *, ended: int) -> list[BackgroundCommand]:
        """The open ones, then so many of those that ended, each the newest first."""
        ...

    async def request_end(self, session_id: SessionId, background_id: str | None = None) -> list[BackgroundCommand]:
        """Leave the wish to end one, or all of a session; answers those that are open."""
        ...

    async def claim(self, *, lease_s: float, limit: int) -> list[BackgroundCommand]:
        """Open ones that nobody looks at; until the lease is over nobody else gets them."""
        ...

    async def release(self, background_id: str, *, for_s: float = 0.0) -> None:
        """Have it looked at again after so long."""
        ...

    async def settle(
        self, command: BackgroundCommand, told: Recorded, *, wakes: bool, changed: FilesChanged | None = None
    ) -> list[Event]:
        """Store how it ended and tell of it with a `BackgroundFinished`, and of the files it `changed`. One that
        `wakes` is read like a message: a run at work goes on to read it, an idle session gets a run for it, whose event
        is the last one then; not where somebody wanted it to stop. Nothing where it was settled before, or its session
        is gone."""
        ...
