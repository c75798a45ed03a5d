"""Which files a run changed. The paths are a sandbox's words: as many and as long as it likes."""

from __future__ import annotations

from collections.abc import Iterable

MAX_FILES = 1_000
"""Of a run; further ones are told of only by their `files.changed`."""


def add_changed(files: list[str], paths: Iterable[str]) -> None:
    """Add those that are new, in their order and up to the bound."""
    for path in paths:
        if len(files) >= MAX_FILES:
            return
        if path not in files:
            files.append(path)
