"""The skills of a user: the user's own, over those of the deployment and the product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend_api.kit.ids import UserId
from backend_api.skills.domain.entity import Skill, SkillEntry
from backend_api.skills.domain.errors import SkillNotFoundError
from backend_api.skills.ports import SkillLibrary, SkillStore


@dataclass(frozen=True, slots=True)
class UserSkills:
    """Skills available to one user, never another user's. All methods raise `StoreUnavailableError`."""

    store: SkillStore
    library: SkillLibrary

    async def entries(self, user_id: UserId) -> Sequence[SkillEntry]:
        """The skills by their names; of the same name, the user's own."""
        found = {entry.name: entry for entry in self.library.entries()}
        found |= {entry.name: self.placed(entry) for entry in await self.store.entries(user_id)}
        return [found[name] for name in sorted(found)]

    def placed(self, own: SkillEntry) -> SkillEntry:
        """One of a user's own, with the origin of the skill that it replaces."""
        below = next((entry.origin for entry in self.library.entries() if entry.name == own.name), None)
        return replace(own, replaces=below)

    async def get(self, user_id: UserId, name: str) -> Skill:
        """Raises `SkillNotFoundError`, `SkillUnreadableError`."""
        found = await self.store.get(user_id, name) or self.library.get(name)
        if found is None:
            raise SkillNotFoundError(f"There is no skill {name[:100]}.")
        return found

    async def with_entry(self, user_id: UserId, name: str) -> tuple[SkillEntry, Skill]:
        """Raises `SkillNotFoundError`, `SkillUnreadableError`."""
        skill = await self.get(user_id, name)
        for entry in await self.entries(user_id):
            if entry.name == name:
                return entry, skill
        raise SkillNotFoundError(f"There is no skill {name[:100]}.")
