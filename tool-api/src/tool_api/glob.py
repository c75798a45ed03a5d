"""Globs over the names of a path."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Set as AbstractSet


class Glob:
    """`?`, `*` and `[...]` stay inside a name, `**` goes through folders. A pattern without a slash matches names at
    any depth, where it is not anchored."""

    def __init__(self, pattern: str, *, is_anchored: bool = False) -> None:
        pattern = pattern.removeprefix("./")
        if "/" not in pattern and not is_anchored:
            pattern = f"**/{pattern}"
        # `src/**` and `src/**.py` mean `src/**/*` and `src/**/*.py`.
        names = re.sub(r"(?<![^/])\*\*(?![/*])", "**/*", pattern).split("/")
        self._names = [None if name == "**" else re.compile(fnmatch.translate(name)) for name in names]

    def matches(self, path: str) -> bool:
        return self.accepts(self.places_after(path))

    def places_after(self, folder: str) -> AbstractSet[int]:
        """The positions in the pattern that a path reaches: several if the pattern has `**`, and none if nothing below
        can match."""
        places: AbstractSet[int] = self._without_folders({0})
        for name in folder.split("/") if folder else ():
            places = self.follow(places, name)
        return places

    def follow(self, places: AbstractSet[int], name: str) -> AbstractSet[int]:
        """The positions after one more name."""
        following: set[int] = set()
        for at, pattern in enumerate(self._names):
            if at in places and pattern is None:
                following.add(at)
            elif at in places and pattern is not None and pattern.match(name):
                following.add(at + 1)
        return self._without_folders(following)

    def accepts(self, places: AbstractSet[int]) -> bool:
        """Whether a path that led to these positions matches."""
        return len(self._names) in places

    def _without_folders(self, places: set[int]) -> set[int]:
        """The positions, and those behind each `**`, as it may stand for no folder."""
        for at, pattern in enumerate(self._names):
            if pattern is None and at in places:
                places.add(at + 1)
        return places
