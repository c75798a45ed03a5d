"""Deleting a skill of a user."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.skills.domain.errors import SkillNotFoundError, SkillNotOwnError
from backend_api.skills.ports import SkillLibrary, SkillStore


@dataclass(frozen=True, slots=True)
class DeleteSkill:
    """Deletes one of the user's own; if the server has one of this name, that applies again. Raises
    `SkillNotFoundError`, `SkillNotOwnError` and `StoreUnavailableError`."""

    store: SkillStore
    library: SkillLibrary

    async def __call__(self, user_id: UserId, name: str) -> None:
        if await self.store.delete(user_id, name):
            return
        if self.library.get(name) is not None:
            raise SkillNotOwnError(f"The skill {name} belongs to the server and can't be deleted.")
        raise SkillNotFoundError(f"There is no skill {name[:100]}.")
