"""The end of a sandbox, and the notices before it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sandbox_manager.domain.sandbox import Sandbox, Status

_KEPT = "Its files are kept; programs that run in it end."


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Times until a sandbox ends. `idle` unused: paused for at most `pause`, then removed; with `pause` zero removed at
    once. `orphan` without any manager: it ends itself. `warning`: notice to its user before a removal."""

    idle: timedelta
    pause: timedelta = timedelta()
    warning: timedelta = timedelta(minutes=5)
    orphan: timedelta = timedelta(minutes=10)

    def over(self, sandbox: Sandbox, now: datetime) -> str | None:
        """The reason why its time is over, other than idleness while it runs."""
        if sandbox.expires_at <= now:
            return "The computer reached its maximum lifetime."
        if sandbox.status is Status.PAUSED and sandbox.idle_expires_at <= now:
            return "The computer was paused for too long."
        return None

    def notice(self, sandbox: Sandbox, now: datetime) -> str | None:
        """The notice of its end that is due now."""
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
