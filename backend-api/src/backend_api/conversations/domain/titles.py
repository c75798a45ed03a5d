"""Titles that are due: of conversations that are called by the first line of what was said first."""

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
    """A title that this process is to find, and nobody else until its time is over. `run_id` is the last run that
    ended; `attempt` counts from 1; `token` names this attempt; `options` are the session's own."""

    session_id: SessionId
    user_id: UserId
    run_id: RunId | None
    attempt: int
    token: str
    options: Options = NO_OPTIONS


class Titles(Protocol):
    """Whoever begins an attempt first has it. A title that the user gives ends the matter, at whatever moment."""

    async def due(self) -> Sequence[SessionId]:
        """Idle sessions whose title is due: nobody began an attempt, or its time is over."""
        ...

    async def begin(self, session_id: SessionId, *, within_s: float) -> DueTitle | None:
        """Take the next attempt, for so many seconds. None where none is due."""
        ...

    async def store(self, due: DueTitle, title: str | None, used: Usage) -> Sequence[Event]:
        """End the matter: the session has that title unless it got another one meanwhile, or keeps what it has for
        None. What the attempt used counts into its run in any case. Answers the stored events."""
        ...

    async def postpone(self, due: DueTitle, used: Usage, *, for_s: float | None) -> None:
        """The attempt came to nothing: the next one may begin after so many seconds, or, for None, when a run has
        ended, and then this one does not count. After `MAX_ATTEMPTS` the session keeps what it has."""
        ...
