"""The skills of users, as agents and their tools know them."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.application.skills.add_skill import AddSkill
from backend_api.application.skills.install_skill import InstallSkill
from backend_api.application.skills.own_skills import OwnSkills
from backend_api.application.skills.place_skills import PlaceSkills
from backend_api.domain.ids import UserId
from backend_api.domain.skills.entity import Skill, SkillEntry
from backend_api.domain.skills.ports import SkillDownloads
from backend_api.infrastructure.skills.archives import ZipArchives
from backend_api.infrastructure.tools.skills import SkillReading


def skill_installer(own: OwnSkills, downloads: SkillDownloads) -> InstallSkill:
    """For users and their agents alike."""
    return InstallSkill(AddSkill(own.store, ZipArchives()), own, downloads)


def skill_reading(own: OwnSkills, place: PlaceSkills) -> SkillReading:
    """What the tools need, of the skills of whoever calls."""

    async def entries(user_id: str) -> Sequence[SkillEntry]:
        return await own.entries(UserId(user_id))

    async def get(user_id: str, name: str) -> Skill:
        return await own.get(UserId(user_id), name)

    return SkillReading(entries=entries, get=get, forget=place.forget)


async def _no_entries(user_id: str) -> Sequence[SkillEntry]:
    raise NotImplementedError


async def _no_skill(user_id: str, name: str) -> Skill:
    raise NotImplementedError


NO_SKILLS = SkillReading(entries=_no_entries, get=_no_skill, forget=lambda _session, _name: None)
