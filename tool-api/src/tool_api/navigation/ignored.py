"""What a `.gitignore` leaves out, in time linear in a path, whatever its patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tool_api.glob import Glob

NAME = ".gitignore"
MAX_BYTES = 64 * 1024
MAX_PATTERNS = 500
_MAX_PATTERN = 300
_PLAIN_ENDING = re.compile(r"\*(\.[\w.-]+)")


@dataclass(frozen=True, slots=True)
class _Rule:
    """`literal` is a name, `ending` what a name ends in, `glob` any other pattern over the path from the file on."""

    is_kept: bool
    only_folders: bool
    is_anchored: bool
    literal: str
    ending: str
    glob: Glob | None

    def matches(self, path: str, name: str, *, is_folder: bool) -> bool:
        if self.only_folders and not is_folder:
            return False
        if self.literal:
            return (path if self.is_anchored else name) == self.literal
        if self.ending:
            return name.endswith(self.ending)
        return self.glob is not None and self.glob.matches(path)


class Ignored:
    """The rules of one file. `folder` is where it stands, from the folder that paths are given from, with a slash."""

    def __init__(self, text: str, folder: str = "") -> None:
        self.folder = folder
        rules = (_rule(line) for line in text[:MAX_BYTES].splitlines()[:MAX_PATTERNS])
        self._rules = [rule for rule in rules if rule is not None][::-1]

    def judge(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether it is left out, None where no rule speaks of it. The last one that does counts."""
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
    is_anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    is_literal = not any(sign in pattern for sign in "*?[")
    ending = _PLAIN_ENDING.fullmatch(pattern) if not is_anchored else None
    if is_literal and is_anchored and "/" in pattern:
        is_literal = False
    if not is_literal and ending is None and is_anchored and "/" not in pattern:
        # A glob without a slash would match at any depth.
        return _Rule(is_kept, only_folders, True, "", "", _TopLevelName(pattern))
    glob = None if is_literal or ending else Glob(pattern)
    return _Rule(is_kept, only_folders, is_anchored, pattern if is_literal else "", ending[1] if ending else "", glob)


def _unescape(escaped: re.Match[str]) -> str:
    return f"[{escaped[1]}]" if escaped[1] in "*?[" else escaped[1]


class _TopLevelName(Glob):
    """Matches names of the first folder alone."""

    def matches(self, path: str) -> bool:
        return "/" not in path and Glob.matches(self, path)
