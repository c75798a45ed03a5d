"""What skills stand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.skills.domain.entity import Skill, SkillEntry


class SkillStore(Protocol):
    """The skills of each user's own. All raise `StoreUnavailableError`."""

    async def entries(self, user_id: UserId) -> Sequence[SkillEntry]:
        """By their names."""
        ...

    async def get(self, user_id: UserId, name: str) -> Skill | None:
        """None where the user has none of this name. Raises `SkillUnreadableError`."""
        ...

    async def put(
        self, user_id: UserId, skill: Skill, *, source: str | None, most: int, only_same_source: bool = False
    ) -> SkillEntry:
        """In the place of the one of its name, `only_same_source` only where that is from this very `source`. However
        many come at once: raises `SkillLimitError` where the user would have more than `most`, and
        `SkillTakenError`."""
        ...

    async def delete(self, user_id: UserId, name: str) -> bool:
        """Whether there was one."""
        ...


class SkillLibrary(Protocol):
    """The skills that every user has: those of the product and of the deployment."""

    def entries(self) -> Sequence[SkillEntry]:
        """By their names."""
        ...

    def get(self, name: str) -> Skill | None:
        """None where there is none of this name."""
        ...


class SkillArchives(Protocol):
    """Skills as people pass them on."""

    def read(self, file_name: str, content: bytes) -> Skill:
        """Of a zip archive or of a single `SKILL.md`. Raises `SkillRefusedError`."""
        ...

    def packed(self, skill: Skill) -> bytes:
        """As a zip archive, of the skill's own files and nothing else."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDownload:
    """What is at an address: nothing of it is checked yet."""

    file_name: str
    content: bytes = field(repr=False)


class SkillDownloads(Protocol):
    """What people have put at public addresses."""

    async def get(self, user_id: UserId, url: str) -> SkillDownload:
        """For this user. At most as much as a skill's archive may have. Raises `InvalidError` for an address that is
        not asked or has nothing, `TooLargeError`, and `UpstreamError` where nothing whole came in time."""
        ...


class SkillFolders(Protocol):
    """The folders of skills in sandboxes."""

    async def put(self, sandbox: Sandbox, name: str, archive: bytes) -> None:
        """In the place of what stood there. Raises `SandboxUnavailableError`, `SandboxLostError`, and what else the
        sandbox refuses as a `DomainError`."""
        ...
