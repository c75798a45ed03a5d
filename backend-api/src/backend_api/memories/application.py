"""Read and change a user's memories: the same for the agent's tools and for the person."""

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
    """Memories hold no secret: none of the deployment's or the user's, and nothing that looks like one. All methods
    raise `StoreUnavailableError`, and all but `files` raise `MemoryDisabledError` if memories are switched off."""

    store: MemoriesStore
    mask: Mask
    open_settings: OpenSettings
    is_enabled: bool = True

    async def read(self, user_id: UserId) -> Memories:
        """The user's memories."""
        if not self.is_enabled:
            raise MemoryDisabledError
        return await self.store.get(user_id)

    async def files(self, user_id: UserId) -> Sequence[MemoryFile]:
        """The files of the user's memories; none if memories are switched off."""
        return (await self.read(user_id)).files if self.is_enabled else ()

    async def __call__(self, user_id: UserId, change: MemoryChange) -> Memories:
        """Apply a change to the latest version, again whenever another change was first. Raises what `change` raises,
        and `MemoryInvalidError` if it would keep a secret."""
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
