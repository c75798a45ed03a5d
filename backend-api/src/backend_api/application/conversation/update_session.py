"""Rename a session or change how it works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend_api.application.conversation.session_rules import check_model, check_title
from backend_api.domain.agent.events import SessionUpdated
from backend_api.domain.agent.model import ModelInfo
from backend_api.domain.conversation.entity import Session, SessionId
from backend_api.domain.conversation.ports import EventLog, LiveTail, SessionRepository
from backend_api.domain.identity.entity import UserId


@dataclass(frozen=True, slots=True)
class UpdateSession:
    """Of the options those that are given change, and None takes one back.

    Raises `SessionNotFoundError`, `InvalidError`.
    """

    sessions: SessionRepository
    log: EventLog
    tail: LiveTail
    models: tuple[ModelInfo, ...]

    async def __call__(self, session_id: SessionId, user_id: UserId, changes: dict[str, Any]) -> Session:
        check_title(changes.get("title"))
        check_model(changes.get("model"), self.models)
        if not changes:
            return await self.sessions.get(session_id, user_id)
        changed = await self.sessions.update(session_id, user_id, changes)
        shown = {key: value for key, value in changes.items() if key in ("title", "model")}
        if "options" in changes:
            shown["options"] = changed.options
        if shown:
            events = await self.log.append(session_id, [SessionUpdated(**shown)])
            await self.tail.publish(session_id, events)
        return await self.sessions.get(session_id, user_id)
