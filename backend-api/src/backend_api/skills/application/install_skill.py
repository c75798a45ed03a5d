"""Installing a skill of a user from an address."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.skills.application.add_skill import AddSkill
from backend_api.skills.application.user_skills import UserSkills
from backend_api.skills.domain.entity import SkillEntry
from backend_api.skills.domain.errors import SkillTakenError
from backend_api.skills.ports import SkillDownloads


@dataclass(frozen=True, slots=True)
class InstallSkill:
    """Stores the skill with its address. A download is refused or stored as a whole, as an upload is.

    Raises what `SkillDownloads` and `AddSkill` raise; nothing is stored then.
    """

    add: AddSkill
    own: UserSkills
    downloads: SkillDownloads

    async def __call__(
        self, user_id: UserId, url: str, *, name: str | None = None, only_same_source: bool = False
    ) -> SkillEntry:
        """Install a skill, replacing the user's skill of the same name. If `name` is given, the skill must have it."""
        source = url.strip()
        found = await self.downloads.get(user_id, source)
        return await self.add(
            user_id, found.file_name, found.content, source=source, name=name, only_same_source=only_same_source
        )

    async def add_from_agent(self, user_id: UserId, url: str, *, name: str) -> SkillEntry:
        """Install for an agent, which may have the address from anybody: only a skill from this very address is
        replaced, and no other one, be it the user's or the server's. Raises `SkillTakenError`."""
        for entry in await self.own.entries(user_id):
            if entry.name == name and entry.source != url.strip():
                # Checked before anything is fetched; the store refuses what is added meanwhile.
                raise SkillTakenError(name)
        return await self(user_id, url, name=name, only_same_source=True)
