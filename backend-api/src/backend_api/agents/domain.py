"""Kinds of sub-agents that users wrote: their store and its errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from backend_api.agent.subagent_kinds import MAX_KINDS, SubagentKind
from backend_api.kit.errors import ConflictError, NotFoundError
from backend_api.kit.ids import UserId


class KindNotFoundError(NotFoundError):
    """The user wrote no kind of this name."""

    code = "agent_not_found"


class KindNameTakenError(ConflictError):
    """The product or the deployment has a kind of this name, which no user replaces."""

    code = "agent_name_taken"


class TooManyKindsError(ConflictError):
    """The user has as many kinds as one may have."""

    code = "too_many_agents"

    def __init__(self) -> None:
        super().__init__(f"You have {MAX_KINDS} agents of your own, which is the maximum. Delete one first.")


class UserKinds(Protocol):
    """The kinds of each user. All raise `StoreUnavailableError`."""

    async def of(self, user_id: UserId) -> Sequence[SubagentKind]:
        """The user's kinds, sorted by name."""
        ...

    async def put(self, user_id: UserId, kind: SubagentKind) -> None:
        """Add it, or replace the one of its name. Once it returns, every new run in a session of this user sees by its
        lease that there are settings. Raises `TooManyKindsError`, however many are added at once."""
        ...

    async def delete(self, user_id: UserId, name: str) -> bool:
        """Delete it; False if there was none."""
        ...
