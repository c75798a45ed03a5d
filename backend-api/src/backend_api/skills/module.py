"""Skills, the instructions for kinds of work, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.tools.local import LocalTools, MainAgentTools
from backend_api.kit.ids import UserId
from backend_api.kit.mongo.database import Database
from backend_api.kit.untrusted.guarded_client import GuardedClient
from backend_api.module import Module, Parts, Planned
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.skills.application.add_skill import AddSkill
from backend_api.skills.application.delete_skill import DeleteSkill
from backend_api.skills.application.install_skill import InstallSkill
from backend_api.skills.application.place_skills import PlaceSkills
from backend_api.skills.application.skill_offers import SkillOffers
from backend_api.skills.application.user_skills import UserSkills
from backend_api.skills.capability import skills_capability
from backend_api.skills.domain.entity import Skill, SkillEntry
from backend_api.skills.http import router
from backend_api.skills.library.archives import ZipArchives
from backend_api.skills.library.downloads import FetchedSkills
from backend_api.skills.library.library import read_library
from backend_api.skills.mongo.documents import DOCUMENTS
from backend_api.skills.mongo.skills import MongoSkillStore
from backend_api.skills.ports import SkillDownloads, SkillLibrary
from backend_api.skills.skill_folders import ToolApiSkillFolders
from backend_api.skills.tools.install_skill import install_skill
from backend_api.skills.tools.skills import NO_READING, SkillReading, skill_tools


class SkillSettings(BaseSettings):
    """Settings read from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    skills_dir: Path | None = None


def plan_skills(settings: SkillSettings) -> Planned:
    """Plan the module. Port: `skill_library`, the skills that everybody has. Raises `SkillFolderError`."""
    return Planned(ports={"skill_library": read_library(settings.skills_dir)})


@asynccontextmanager
async def open_skills(
    *,
    skill_library: SkillLibrary,
    database: Database,
    fetcher: GuardedClient,
    endpoints: Endpoints,
    skill_downloads: SkillDownloads | None = None,
) -> AsyncGenerator[Parts]:
    """Open the skills. Ports: the use cases of its routes, and `place_skills`, which uploads skills that were read to
    sandboxes."""
    own = UserSkills(MongoSkillStore(database), skill_library)
    install = skill_installer(own, skill_downloads or FetchedSkills(fetcher))
    place, offers = PlaceSkills(own, ZipArchives(), ToolApiSkillFolders(endpoints)), SkillOffers(own)
    yield Parts(
        ports={
            "user_skills": own,
            "add_skill": install.add,
            "install_skill": install,
            "delete_skill": DeleteSkill(own.store, own.library),
            "place_skills": place,
        },
        tools=[LocalTools(skill_tools(_reading(own, place))), MainAgentTools([install_skill(install)])],
        capabilities=[skills_capability(offers, offers.shared)],
    )


def skill_installer(own: UserSkills, downloads: SkillDownloads) -> InstallSkill:
    """The installer for users and their agents alike."""
    return InstallSkill(AddSkill(own.store, ZipArchives()), own, downloads)


def _reading(own: UserSkills, place: PlaceSkills) -> SkillReading:
    """The callbacks of the tools, for the skills of the calling user."""

    async def entries(user_id: str) -> Sequence[SkillEntry]:
        return await own.entries(UserId(user_id))

    async def get(user_id: str, name: str) -> Skill:
        return await own.get(UserId(user_id), name)

    return SkillReading(entries=entries, get=get, forget=place.forget)


SKILLS = Module(
    name="skills",
    description="Instructions for kinds of work, which agents read when there is such work.",
    settings=SkillSettings,
    documents=DOCUMENTS,
    routes=[router],
    tools=[*skill_tools(NO_READING), install_skill(None)],
    plan=plan_skills,
    open=open_skills,
)
