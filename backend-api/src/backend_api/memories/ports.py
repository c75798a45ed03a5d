"""The store of memories."""

from __future__ import annotations

from typing import Protocol

from backend_api.kit.ids import UserId
from backend_api.memories.domain import Memories


class MemoriesStore(Protocol):
    """The memories of each user. All raise `StoreUnavailableError`."""

    async def get(self, user_id: UserId) -> Memories:
        """The user's memories; empty, with version 0, if there are none."""
        ...

    async def replace(self, fresh: Memories) -> bool:
        """Store these as the next version. False, with nothing changed, if the stored version is not the one from which
        they were made."""
        ...
