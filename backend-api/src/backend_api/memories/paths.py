"""Names of memories: below `/memories/`, which is no folder on a disk."""

from __future__ import annotations

import re

from backend_api.kit.invisible_characters import is_blank
from backend_api.memories.errors import MemoryInvalidError

ROOT = "/memories"
MAX_PATH_CHARACTERS = 120
MAX_DEPTH = 5
_PART = re.compile(r"[\w@+(),.-]([\w @+(),.-]*[\w@+(),.-])?")


def checked_path(path: str) -> str:
    """The name below `/memories/`; that prefix may be present or not. Raises `MemoryInvalidError`."""
    name = path.removeprefix(f"{ROOT}/")
    parts = name.split("/")
    if len(name) > MAX_PATH_CHARACTERS or len(parts) > MAX_DEPTH or not all(map(_is_part, parts)):
        raise MemoryInvalidError(
            f"The path of a memory is {ROOT}/ and at most {MAX_PATH_CHARACTERS} characters more: letters, digits, "
            f"spaces and any of @+(),.-_ , with at most {MAX_DEPTH - 1} folders, and no part . or ..",
            field="path",
        )
    return name


def _is_part(part: str) -> bool:
    return _PART.fullmatch(part) is not None and part not in {".", ".."} and not is_blank(part)
