"""Ports that skills need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from backend_api.kit.ids import UserId
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.skills.domain.entity import Skill, SkillEntry


class SkillStore(Protocol):
    """Users' own skills. All raise `StoreUnavailableError`."""

    async def entries(self, user_id: UserId) -> Sequence[SkillEntry]:
        """The entries by their names."""
        ...

    async def get(self, user_id: UserId, name: str) -> Skill | None:
        """The skill; None if the user has none of this name. Raises `SkillUnreadableError`."""
        ...

    async def put(
        self, user_id: UserId, skill: Skill, *, source: str | None, most: int, only_same_source: bool = False
    ) -> SkillEntry:
        """Store a skill, replacing the one of its name; with `only_same_source` only if that is from this very
        `source`. Raises `SkillLimitError` if the user would have more than `most`, also for many calls at once, and
        `SkillTakenError`."""
        ...

    async def delete(self, user_id: UserId, name: str) -> bool:
        """Delete a skill; returns whether there was one."""
        ...


class SkillLibrary(Protocol):
    """The skills that every user has: those of the product and of the deployment."""

    def entries(self) -> Sequence[SkillEntry]:
        """The entries by their names."""
        ...

    def get(self, name: str) -> Skill | None:
        """The skill; None if there is none of this name."""
        ...


class SkillArchives(Protocol):
    """Skills in the form in which people exchange them."""

    def read(self, file_name: str, content: bytes) -> Skill:
        """The skill in a zip archive or a single `SKILL.md`. Raises `SkillRefusedError`."""
        ...

    def packed(self, skill: Skill) -> bytes:
        """The skill as a zip archive, with its own files and nothing else."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDownload:
    """The download from an address, not checked yet."""

    file_name: str
    content: bytes = field(repr=False)


class SkillDownloads(Protocol):
    """Downloads of skills from public addresses."""

    async def get(self, user_id: UserId, url: str) -> SkillDownload:
        """Download for this user, at most as much as a skill's archive may have. Raises `InvalidError` for an address
        that is not allowed or has no file, `TooLargeError`, and `UpstreamError` if no complete answer came in time."""
        ...


class SkillFolders(Protocol):
    """The folders of skills in sandboxes."""

    async def put(self, sandbox: Sandbox, name: str, archive: bytes) -> None:
        """Upload a folder, replacing the former one. Raises `SandboxUnavailableError`, `SandboxLostError`, and any
        other refusal of the sandbox as a `DomainError`."""
        ...
