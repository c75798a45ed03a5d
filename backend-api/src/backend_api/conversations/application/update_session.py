"""Renames a session or changes how it works."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from backend_api.conversations.application.session_rules import OptionRules, check_title
from backend_api.conversations.domain.entity import Session
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId, UserId


@dataclass(frozen=True, slots=True)
class UpdateSession:
    """Changes a session. Only the given options change; None resets one.

    Raises `SessionNotFoundError`, `InvalidError`, `LimitError`.
    """

    sessions: SessionRepository
    stream: SessionStream
    rules_of: Callable[[UserId], Awaitable[OptionRules]]
    limiter: RateLimiter
    limits: Limits

    async def __call__(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Session:
        check_title(changes.get("title"))
        if not changes:
            return await self.sessions.get(session_id, user_id)
        if changes.get("options") or not {"model", "preset"}.isdisjoint(changes):
            await self._check(session_id, user_id, changes)
        # Each change stays in the stream, with options of up to a hundred kilobytes.
        await self.limiter.hit(f"session-changes:{user_id}", limit=self.limits.sessions_per_minute, window_s=60)
        changed = await self.sessions.change(session_id, user_id, changes)
        if changed.events:
            await self.stream.append(session_id, changed.events)
        return changed.session

    async def _check(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> None:
        """Checks the result of the changes. Two changes at the same moment may combine into a pair that neither alone
        would be allowed; the run then requests only what its model supports."""
        rules = await self.rules_of(user_id)
        rules.check_model(changes.get("model"))
        rules.check_preset(changes.get("preset"))
        present = await self.sessions.get(session_id, user_id)
        changed: dict[str, Any] = changes.get("options") or {}
        model, preset = changes.get("model", present.model), changes.get("preset", present.preset)
        rules.check(model, present.options | changed, changed, preset=preset)
