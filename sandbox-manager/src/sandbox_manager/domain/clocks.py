"""When a sandbox ends, and what is said before it does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sandbox_manager.domain.sandbox import Sandbox, Status

_KEPT = "Its files are kept; programs that run in it end."


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """`idle` unused: paused for at most `pause`, then removed; with `pause` zero removed at once. `orphan` without any
    manager: it ends itself. `warning` before a removal its user is told."""

    idle: timedelta
    pause: timedelta = timedelta()
    warning: timedelta = timedelta(minutes=5)
    orphan: timedelta = timedelta(minutes=10)

    def over(self, sandbox: Sandbox, now: datetime) -> str | None:
        """Why its time is over, other than for being idle while it runs."""
        if sandbox.expires_at <= now:
            return "The computer reached its maximum lifetime."
        if sandbox.status is Status.PAUSED and sandbox.idle_expires_at <= now:
            return "The computer was paused for too long."
        return None

    def notice(self, sandbox: Sandbox, now: datetime) -> str | None:
        """What is to be said now about its end."""
        if sandbox.expires_at - self.warning <= now:
            return f"This computer reaches its maximum lifetime in {_minutes(sandbox.expires_at - now)}. {_KEPT}"
        is_paused = sandbox.status is Status.PAUSED
        if not is_paused and self.pause:
            return None  # it will only be frozen
        ahead = min(self.warning, (self.pause if is_paused else self.idle) / 4)
        if sandbox.idle_expires_at - ahead > now:
            return None
        return f"Nobody uses this computer: it is removed in {_minutes(sandbox.idle_expires_at - now)}. {_KEPT}"


def _minutes(left: timedelta) -> str:
    minutes = max(1, round(left.total_seconds() / 60))
    return "a minute" if minutes == 1 else f"{minutes} minutes"
