"""The rules of a `.gitignore`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from dataclasses import dataclass

from tool_api.glob import Glob

NAME = ".gitignore"
MAX_BYTES = 64 * 1024
MAX_PATTERNS = 500
_MAX_PATTERN = 300


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule; `is_match` takes the path relative to the file if the rule is anchored, else the name."""

    is_kept: bool
    only_folders: bool
    is_anchored: bool
    is_match: Callable[[str], object]

    def matches(self, path: str, name: str, *, is_folder: bool) -> bool:
        if self.only_folders and not is_folder:
            return False
        return bool(self.is_match(path if self.is_anchored else name))


class Ignored:
    """The rules of one file. `folder` is its folder, relative to the folder of the paths, with a slash."""

    def __init__(self, text: str, folder: str = "") -> None:
        self.folder = folder
        rules = (_rule(line) for line in text[:MAX_BYTES].splitlines()[:MAX_PATTERNS])
        self._rules = [rule for rule in rules if rule is not None][::-1]

    def judge(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether the rules leave the path out, None if no rule matches. The last match wins."""
        below = path.removeprefix(self.folder)
        name = below.rpartition("/")[2]
        for rule in self._rules:
            if rule.matches(below, name, is_folder=is_folder):
                return not rule.is_kept
        return None


def _rule(line: str) -> _Rule | None:
    written = line.rstrip()
    if not written or written.startswith("#") or len(written) > _MAX_PATTERN:
        return None
    is_kept = written.startswith("!")
    written = written[is_kept:]
    only_folders = written.endswith("/")
    pattern = re.sub(r"\\(.)", _unescape, written.rstrip("/"))
    if not pattern.lstrip("/"):
        return None
    if "/" in pattern:
        anchored = Glob(pattern.removeprefix("/"), is_anchored=True)
        return _Rule(is_kept, only_folders, True, anchored.matches)
    return _Rule(is_kept, only_folders, False, re.compile(fnmatch.translate(pattern)).match)


def _unescape(escaped: re.Match[str]) -> str:
    return f"[{escaped[1]}]" if escaped[1] in "*?[" else escaped[1]
