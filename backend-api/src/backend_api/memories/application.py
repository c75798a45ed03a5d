"""Read and change what the agent remembers of a user: the same for the agent's tools and for the person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.kit.masking import Mask
from backend_api.memories.domain import Memories, MemoryFile
from backend_api.memories.errors import MemoryBusyError, MemoryDisabledError, MemoryInvalidError
from backend_api.memories.ports import MemoriesStore
from backend_api.settings.application.open_settings import OpenSettings

MAX_ATTEMPTS = 20
MemoryChange = Callable[[Memories], Memories]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMemories:
    """What is kept has no secret in it: none of the deployment's or the user's, and nothing that looks like one.
    All raise `StoreUnavailableError`, and `MemoryDisabledError` where no memories are kept."""

    store: MemoriesStore
    mask: Mask
    open_settings: OpenSettings
    is_enabled: bool = True

    async def read(self, user_id: UserId) -> Memories:
        """All of a user's."""
        if not self.is_enabled:
            raise MemoryDisabledError
        return await self.store.get(user_id)

    async def files(self, user_id: UserId) -> Sequence[MemoryFile]:
        """All of a user's; none where no memories are kept."""
        return (await self.read(user_id)).files if self.is_enabled else ()

    async def __call__(self, user_id: UserId, change: MemoryChange) -> Memories:
        """Made of what is there by then, however often somebody else is first. Raises what `change` raises, and
        `MemoryInvalidError` where it would keep a secret."""
        for _ in range(MAX_ATTEMPTS):
            present = await self.read(user_id)
            fresh = change(present)
            await self._refuse_secrets(present, fresh)
            if await self.store.replace(fresh):
                return fresh
        raise MemoryBusyError("The memories are being changed by others again and again. Try again in a moment.")

    async def _refuse_secrets(self, present: Memories, fresh: Memories) -> None:
        known = {(path, content) for path, content in present.texts.items()}
        new = [text for one in fresh.texts.items() if one not in known for text in one]
        if not new:
            return
        own = Mask((await self.open_settings(fresh.user_id)).secrets.values())
        if any(own.text(text) != text or self.mask.text(text) != text for text in new):
            raise MemoryInvalidError(
                "A key, a password or a token is in this, or what looks like one. Memories keep none: leave it out.",
                field="content",
            )
