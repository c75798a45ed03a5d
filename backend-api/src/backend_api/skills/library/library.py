"""Skills as folders: those of the product, in `product` beside this file, and those of a deployment (`SKILLS_DIR`),
which override the product's of the same name. They are read once, at the start."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend_api.skills.domain.entity import MAIN, MAX_BYTES, MAX_FILES, Origin, Skill, SkillEntry
from backend_api.skills.domain.errors import SkillRefusedError
from backend_api.skills.library.archives import skill_of
from backend_api.skills.library.records import entry_of
from service_kit.amounts import size_text

MAX_SKILLS = 100
MAX_BYTES_IN_ALL = 64 * 1024 * 1024
PRODUCT = Path(__file__).parent / "product"
_LEFT_OUT = {"__pycache__", ".git", ".DS_Store"}


class SkillFolderError(ValueError):
    """A folder of a skill that can't be used; the message contains the folder and the reason."""


@dataclass(frozen=True, slots=True)
class FolderLibrary:
    """`SkillLibrary` of skills that were read."""

    skills: dict[str, tuple[SkillEntry, Skill]]

    def entries(self) -> Sequence[SkillEntry]:
        return [entry for entry, _ in self.skills.values()]

    def get(self, name: str) -> Skill | None:
        found = self.skills.get(name)
        return found[1] if found is not None else None


def read_library(folder: Path | None = None) -> FolderLibrary:
    """Read all skills. Raises `SkillFolderError`."""
    found = {**_read_all(PRODUCT, "bundled"), **(_read_all(folder, "deployment") if folder is not None else {})}
    if sum(entry.size for entry, _ in found.values()) > MAX_BYTES_IN_ALL:
        raise SkillFolderError(f"{folder} has more than {size_text(MAX_BYTES_IN_ALL)} of skills")
    return FolderLibrary(dict(sorted(found.items())))


def _read_all(folder: Path, origin: Origin) -> dict[str, tuple[SkillEntry, Skill]]:
    try:
        places = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        raise SkillFolderError(f"{folder} can't be read: {error.strerror}") from error
    if len(places) > MAX_SKILLS:
        raise SkillFolderError(f"{folder} has more than {MAX_SKILLS} skills")
    return {place.name: _read(place, origin) for place in places if place.name not in _LEFT_OUT}


def _read(place: Path, origin: Origin) -> tuple[SkillEntry, Skill]:
    try:
        contents = {str(path.relative_to(place).as_posix()): path.read_bytes() for path in _files(place)}
        skill = skill_of(contents)
    except OSError as error:
        raise SkillFolderError(f"{place} can't be read: {error.strerror}") from error
    except SkillRefusedError as error:
        raise SkillFolderError(f"{place}: {error.detail}") from error
    if skill.name != place.name:
        raise SkillFolderError(f"{place}: {MAIN} names it {skill.name}, and its folder has another name")
    return entry_of(skill, origin), skill


def _files(place: Path) -> Iterator[Path]:
    """The files of a folder, checked before any is read: a folder that was set by mistake may hold anything."""
    count = size = 0
    for where, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted(set(names) - _LEFT_OUT):
            path = Path(where, name)
            if path.is_symlink() or not path.is_file():
                raise SkillFolderError(f"{path} is neither a file nor a folder")
            count, size = count + 1, size + path.stat().st_size
            if count > MAX_FILES or size > MAX_BYTES:
                raise SkillFolderError(f"{place} has more than {MAX_FILES} files or {size_text(MAX_BYTES)}")
            yield path
