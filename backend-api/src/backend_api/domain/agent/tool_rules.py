"""Which tools a session's rules name: exactly, or by a glob such as `browser_*`."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase


def is_named(name: str, rules: Collection[str] | None) -> bool:
    """Whether one of the rules names the tool. `*` stands for any characters and `?` for one."""
    return any(_matches(name, rule) for rule in rules or ())


def _matches(name: str, rule: str) -> bool:
    return fnmatchcase(name, rule.replace("[", "[[]"))
