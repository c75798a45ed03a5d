"""The skills of users, as agents and their tools know them."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.kit.ids import UserId
from backend_api.skills.application.add_skill import AddSkill
from backend_api.skills.application.install_skill import InstallSkill
from backend_api.skills.application.own_skills import OwnSkills
from backend_api.skills.application.place_skills import PlaceSkills
from backend_api.skills.domain.entity import Skill, SkillEntry
from backend_api.skills.library.archives import ZipArchives
from backend_api.skills.ports import SkillDownloads
from backend_api.skills.tools.skills import SkillReading


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
