"""The kinds that a user's sub-agents may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.agent.subagent_kinds import BUILT_IN, SubagentKind, find_kind
from backend_api.agents.domain import UserKinds
from backend_api.kit.ids import UserId


@dataclass(frozen=True, slots=True)
class KindsOfUsers:
    """The kinds that all users have (`shared`), and the user's own. If both have a name, the shared one counts."""

    shared: Sequence[SubagentKind] = BUILT_IN
    own: UserKinds | None = None

    async def __call__(self, user_id: UserId) -> list[SubagentKind]:
        """The user's kinds in display order. Raises `StoreUnavailableError`."""
        own = await self.own.of(user_id) if self.own is not None else ()
        return [*self.shared, *(kind for kind in own if find_kind(self.shared, kind.name) is None)]
