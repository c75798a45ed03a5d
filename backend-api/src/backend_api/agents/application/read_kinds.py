"""Read all kinds of sub-agents of a user, with their sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from backend_api.agent.subagent_kinds import SubagentKind, find_kind, is_built_in
from backend_api.agents.application.kinds_of_users import KindsOfUsers
from backend_api.kit.ids import UserId

Source = Literal["product", "deployment", "user"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownKind:
    """A kind to display. `is_hidden`: the deployment has one of this name since, which is used in its place."""

    kind: SubagentKind
    source: Source
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class ReadKinds:
    """Raises `StoreUnavailableError`."""

    kinds: KindsOfUsers

    async def __call__(self, user_id: UserId) -> list[ShownKind]:
        """The kinds of the product, the deployment and the user."""
        shared, store = self.kinds.shared, self.kinds.own
        own = await store.of(user_id) if store is not None else ()
        return [
            *(ShownKind(kind=kind, source="product" if is_built_in(kind.name) else "deployment") for kind in shared),
            *(self.shown(kind) for kind in own),
        ]

    def shown(self, kind: SubagentKind) -> ShownKind:
        """The display form of a user's own kind."""
        return ShownKind(kind=kind, source="user", is_hidden=find_kind(self.kinds.shared, kind.name) is not None)
