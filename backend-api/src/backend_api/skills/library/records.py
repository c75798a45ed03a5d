"""Entries that describe skills."""

from __future__ import annotations

import hashlib
from datetime import datetime

from backend_api.skills.domain.entity import Origin, Skill, SkillEntry

LIMIT = "You have {most} skills, which is the maximum. Delete one first."


def entry_of(
    skill: Skill, origin: Origin, *, source: str | None = None, created_at: datetime | None = None
) -> SkillEntry:
    """The entry of a skill that is whole."""
    digest = hashlib.sha256()
    for path in skill.paths:
        for part in (path.encode(), skill.contents[path]):
            digest.update(len(part).to_bytes(8, "big") + part)
    return SkillEntry(
        name=skill.name,
        description=skill.description,
        origin=origin,
        digest=digest.hexdigest(),
        size=skill.size,
        files=len(skill.contents),
        source=source,
        created_at=created_at,
    )
