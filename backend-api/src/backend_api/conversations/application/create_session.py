"""Creates a session."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from backend_api.conversations.application.session_rules import OptionRules, check_title
from backend_api.conversations.application.session_targets import NO_TARGETS, SessionTargets
from backend_api.conversations.domain.entity import Session, SessionStatus
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.stored_time import to_millisecond


@dataclass(frozen=True, slots=True)
class CreateSession:
    """Creates a session. Raises `InvalidError`, `LimitError`, `SessionQuotaError`."""

    sessions: SessionRepository
    rules_of: Callable[[UserId], Awaitable[OptionRules]]
    limiter: RateLimiter
    limits: Limits
    targets: SessionTargets = NO_TARGETS

    async def __call__(
        self,
        user_id: UserId,
        title: str | None,
        model: str | None,
        options: dict[str, Any],
        preset: str | None = None,
        *,
        target_id: str | None = None,
    ) -> Session:
        check_title(title)
        if target_id is not None:
            options = dict(await self.targets.options(user_id, target_id, options))
        rules = await self.rules_of(user_id)
        rules.check_model(model)
        rules.check_preset(preset)
        rules.check(model, options, options, preset=preset)
        await self.limiter.hit(f"sessions:{user_id}", limit=self.limits.sessions_per_minute, window_s=60)
        now = to_millisecond(datetime.now(UTC))
        session = Session(
            id=SessionId(uuid.uuid4().hex),
            user_id=user_id,
            title=title or "",
            status=SessionStatus.IDLE,
            model=model,
            preset=preset,
            options=options,
            target_id=target_id,
            created_at=now,
            updated_at=now,
            active_at=now,
        )
        await self.sessions.add(session, at_most=self.limits.sessions_in_all)
        return session
