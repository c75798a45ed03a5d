"""Titles that are due: of conversations still named after the first line of their first message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from backend_api.agent.events import Event, Usage
from backend_api.agent.options import NO_OPTIONS, Options
from backend_api.conversations.domain.entity import RunId
from backend_api.kit.ids import SessionId, UserId

MAX_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTitle:
    """A title that only this process may generate until its time is over. `run_id` is the last run that ended;
    `attempt` counts from 1; `token` names this attempt; `options` are the session's own."""

    session_id: SessionId
    user_id: UserId
    run_id: RunId | None
    attempt: int
    token: str
    options: Options = NO_OPTIONS


class Titles(Protocol):
    """Due titles; each attempt has one owner. A title set by the user ends it at any time."""

    async def due(self) -> Sequence[SessionId]:
        """Idle sessions whose title is due: no attempt has begun, or its time is over."""
        ...

    async def begin(self, session_id: SessionId, *, within_s: float) -> DueTitle | None:
        """Begins the next attempt, for so many seconds. None if none is due."""
        ...

    async def store(self, due: DueTitle, title: str | None, used: Usage) -> Sequence[Event]:
        """Ends it: the session gets the title unless it has got another one meanwhile; None keeps the present one. The
        attempt's usage is added to its run in any case. Returns the stored events."""
        ...

    async def postpone(self, due: DueTitle, used: Usage, *, for_s: float | None) -> None:
        """The attempt failed: the next one may begin after so many seconds, or, for None, after a run's end, and then
        this one does not count. After `MAX_ATTEMPTS` the session keeps its title."""
        ...
