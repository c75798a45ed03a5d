"""Skills of users in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from backend_api.kit.ids import UserId
from backend_api.settings.domain.entity import StoredSettings
from backend_api.skills.domain.entity import Skill, SkillEntry
from backend_api.skills.domain.errors import SkillLimitError, SkillRefusedError, SkillTakenError
from backend_api.skills.library.records import LIMIT, entry_of
from backend_api.skills.ports import SkillDownload
from support.memory.store import MemoryStore


class MemorySkillStore:
    """`SkillStore` on a `MemoryStore`, whose ledger tells runs of a user who has settings."""

    def __init__(self, store: MemoryStore | None = None) -> None:
        self._store = store or MemoryStore()
        self._kept: dict[UserId, dict[str, tuple[SkillEntry, Skill]]] = {}

    async def entries(self, user_id: UserId) -> Sequence[SkillEntry]:
        kept = self._kept.get(user_id, {})
        return [kept[name][0] for name in sorted(kept)]

    async def get(self, user_id: UserId, name: str) -> Skill | None:
        found = self._kept.get(user_id, {}).get(name)
        return found[1] if found is not None else None

    async def put(
        self, user_id: UserId, skill: Skill, *, source: str | None, most: int, only_same_source: bool = False
    ) -> SkillEntry:
        self._store.settings.setdefault(user_id, StoredSettings(user_id=user_id, version=1))
        kept = self._kept.setdefault(user_id, {})
        if skill.name not in kept and len(kept) >= most:
            raise SkillLimitError(LIMIT.format(most=most))
        if only_same_source and skill.name in kept and kept[skill.name][0].source != source:
            raise SkillTakenError(skill.name)
        entry = entry_of(skill, "user", source=source, created_at=datetime.now(UTC))
        kept[skill.name] = (entry, skill)
        return entry

    async def delete(self, user_id: UserId, name: str) -> bool:
        return self._kept.get(user_id, {}).pop(name, None) is not None


class MemorySkillDownloads:
    """`SkillDownloads` of these files by their addresses."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.files = dict(files or {})

    async def get(self, user_id: UserId, url: str) -> SkillDownload:
        del user_id
        if url not in self.files:
            raise SkillRefusedError("Nothing was found at this address: the server responded with status 404.")
        return SkillDownload(file_name=url.rpartition("/")[2], content=self.files[url])
