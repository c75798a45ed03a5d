"""What memories stand on."""

from __future__ import annotations

from typing import Protocol

from backend_api.kit.ids import UserId
from backend_api.memories.domain import Memories


class MemoriesStore(Protocol):
    """The memories of each user. All raise `StoreUnavailableError`."""

    async def get(self, user_id: UserId) -> Memories:
        """Empty, of version 0, for a user who has none."""
        ...

    async def replace(self, fresh: Memories) -> bool:
        """Keep these, as the next version. False, and nothing is changed, where what is stored is not of the version
        that they were made from."""
        ...
