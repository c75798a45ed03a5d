"""Adding a skill of a user."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.skills.domain.entity import MAX_PER_USER, SkillEntry
from backend_api.skills.domain.errors import SkillRefusedError
from backend_api.skills.ports import SkillArchives, SkillStore


@dataclass(frozen=True, slots=True)
class AddSkill:
    """Adds a skill, replacing the user's skill of the same name. Raises `SkillRefusedError`, `SkillLimitError` and
    `StoreUnavailableError`; nothing is stored then."""

    store: SkillStore
    archives: SkillArchives
    most: int = MAX_PER_USER

    async def __call__(
        self,
        user_id: UserId,
        file_name: str,
        content: bytes,
        *,
        source: str | None = None,
        name: str | None = None,
        only_same_source: bool = False,
    ) -> SkillEntry:
        """Add the skill in a zip archive or a single `SKILL.md`. If `name` is given, the skill must have it.
        `only_same_source` does not replace a skill from another source: raises `SkillTakenError`."""
        skill = await asyncio.to_thread(self.archives.read, file_name, content)
        if name is not None and skill.name != name:
            raise SkillRefusedError(f"The skill found there is named {skill.name}, not {name[:100]}.")
        return await self.store.put(user_id, skill, source=source, most=self.most, only_same_source=only_same_source)
