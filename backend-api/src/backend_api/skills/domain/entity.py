"""A skill: instructions for a kind of work, with the programs and texts they refer to, as a folder with `SKILL.md`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from backend_api.kit.invisible_characters import INVISIBLE
from backend_api.skills.domain.errors import SkillRefusedError

MAX_NAME_CHARACTERS = 64
MAX_DESCRIPTION_CHARACTERS = 1_024
MAX_INSTRUCTIONS_CHARACTERS = 50_000
MAX_FILES = 100
MAX_BYTES = 8 * 1024 * 1024
"""The most bytes of all files together."""
MAX_ARCHIVE_BYTES = 8 * 1024 * 1024
MAX_PER_USER = 50
MAX_URL_CHARACTERS = 4_096
"""The longest address that a skill is installed from."""
MAIN = "SKILL.md"
ROOT = "/skills"
"""The folder of skills in a sandbox."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
_PART = re.compile(r"[^\x00-\x1f\x7f/\\:]{1,120}")
_MAX_DEPTH = 6
_MAX_PART_BYTES = 255
"""The longest name that file systems allow, in bytes."""

Origin = Literal["bundled", "deployment", "user"]
"""The owner: the product, the server (`SKILLS_DIR`), or the user. Of the same name the last one applies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillEntry:
    """The description of a skill without its contents. Two skills with the same `digest` are the same."""

    name: str
    description: str
    origin: Origin
    digest: str
    size: int
    files: int
    source: str | None = None
    """The address it was installed from."""
    created_at: datetime | None = None
    replaces: Origin | None = None
    """The origin of the skill of the same name that it replaces, until it is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A whole skill. `contents` are its files by their paths, `SKILL.md` among them. Raises `SkillRefusedError`."""

    name: str
    description: str
    instructions: str
    """The text of `SKILL.md` below its front matter."""
    contents: Mapping[str, bytes] = field(repr=False)

    def __post_init__(self) -> None:
        check_name(self.name)
        text = self.description
        if not text.strip() or len(text) > MAX_DESCRIPTION_CHARACTERS or "\n" in text:
            raise SkillRefusedError(
                f"The description of {self.name} must be one line of at most {MAX_DESCRIPTION_CHARACTERS} characters "
                "that says what the skill is for and when to use it."
            )
        if unseen := INVISIBLE.search(text + self.instructions):
            raise SkillRefusedError(f"{MAIN} has the invisible character U+{ord(unseen.group()):04X}. Remove it.")
        if not self.instructions.strip():
            raise SkillRefusedError(f"{MAIN} has no text below its front matter.")
        if len(self.instructions) > MAX_INSTRUCTIONS_CHARACTERS:
            raise SkillRefusedError(
                f"{MAIN} has more than {MAX_INSTRUCTIONS_CHARACTERS} characters. Move what is not always needed into "
                "files in the folder references/."
            )

    @property
    def paths(self) -> Sequence[str]:
        """The paths of its files, in order."""
        return sorted(self.contents)

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(map(len, self.contents.values()))


def check_name(name: str) -> None:
    """Check a skill's name. Raises `SkillRefusedError`."""
    if len(name) > MAX_NAME_CHARACTERS or not _NAME.fullmatch(name):
        raise SkillRefusedError(
            f"A skill's name has small letters, digits and single hyphens, at most {MAX_NAME_CHARACTERS}, such as "
            "meeting-notes."
        )


def check_paths(paths: Sequence[str]) -> None:
    """Check that these are files of one folder, which can exist side by side on any machine. Raises `SkillRefusedError`
    with the path in its detail."""
    if len(paths) > MAX_FILES:
        raise SkillRefusedError(f"A skill may have at most {MAX_FILES} files; this has {len(paths)}.")
    seen: set[str] = set()
    folders: set[str] = set()
    for path in paths:
        parts = path.split("/")
        if path.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", path):
            raise SkillRefusedError(f"{_quoted_path(path)} is an absolute path.")
        if ".." in parts or "." in parts:
            raise SkillRefusedError(f"{_quoted_path(path)} points outside the skill's folder.")
        if len(parts) > _MAX_DEPTH or not all(map(_is_part, parts)):
            raise SkillRefusedError(f"{_quoted_path(path)} is not a valid file name in a skill.")
        if (folded := _fold_case(path)) in seen:
            raise SkillRefusedError(f"{_quoted_path(path)} occurs twice.")
        seen.add(folded)
        folders |= {_fold_case("/".join(parts[:depth])) for depth in range(1, len(parts))}
    if both := seen & folders:
        raise SkillRefusedError(f"{_quoted_path(min(both))} is both a file and a folder.")


def _is_part(part: str) -> bool:
    return _PART.fullmatch(part) is not None and len(part.encode("utf-8", "surrogatepass")) <= _MAX_PART_BYTES


def _fold_case(path: str) -> str:
    return unicodedata.normalize("NFC", path.casefold())


def _quoted_path(path: str) -> str:
    return repr(path[:100])
