"""Rename a session or change how it works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend_api.application.conversation.session_rules import OptionRules, check_title
from backend_api.domain.conversation.entity import Session, SessionId
from backend_api.domain.conversation.ports import SessionRepository, SessionStream
from backend_api.domain.identity.entity import UserId


@dataclass(frozen=True, slots=True)
class UpdateSession:
    """Of the options those that are given change, and None takes one back.

    Raises `SessionNotFoundError`, `InvalidError`.
    """

    sessions: SessionRepository
    stream: SessionStream
    rules: OptionRules

    async def __call__(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Session:
        check_title(changes.get("title"))
        self.rules.check_model(changes.get("model"))
        if not changes:
            return await self.sessions.get(session_id, user_id)
        if changes.get("options") or "model" in changes:
            await self._check(session_id, user_id, changes)
        changed = await self.sessions.change(session_id, user_id, changes)
        if changed.events:
            await self.stream.append(session_id, changed.events)
        return changed.session

    async def _check(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> None:
        """What would come of it. Two changes at the same moment may make a pair that neither would be allowed; the run
        then asks its model for what it can do."""
        present = await self.sessions.get(session_id, user_id)
        changed: dict[str, Any] = changes.get("options") or {}
        self.rules.check(changes.get("model", present.model), present.options | changed, changed)
