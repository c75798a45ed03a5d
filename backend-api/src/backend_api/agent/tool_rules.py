"""Rules that name tools: exactly, or by a glob such as `browser_*`; or that allow one command, as in `shell_exec(git
status)`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

FOREIGN_PREFIX = "mcp__"
"""The prefix of the names of MCP servers' tools, and of no others. A run finds out which there are as it begins."""


def is_named(name: str, rules: Collection[str] | None) -> bool:
    """Whether one of the rules names the tool. `*` stands for any characters and `?` for one.

    Rules are a user's, hundreds of them and new ones with each request: as regular expressions each would take a
    millisecond to compile, during which a gateway serves nobody.
    """
    return any(name == rule or _matches(name, rule) for rule in rules or ())


def is_named_in_any_case(name: str, rules: Collection[str] | None) -> bool:
    """`is_named` for rules that protect: a rule holds whether a chosen name, such as a server's, is written with
    capital letters or not."""
    return is_named(name.casefold(), [rule.casefold() for rule in rules or ()])


def tool_of_command(rule: str) -> str | None:
    """The tool whose command a rule allows: `shell_exec` for `shell_exec(git status)`. None for a rule of tools."""
    name, bracket, _ = rule.partition("(")
    return name if bracket and rule.endswith(")") else None


def is_command_allowed(name: str, arguments: Mapping[str, Any], rules: Collection[str] | None) -> bool:
    """Whether one of the rules allows exactly this command: rules for commands have no wildcards."""
    command = arguments.get("command")
    return isinstance(command, str) and f"{name}({command})" in (rules or ())


def covers(rules: Collection[str], rule: str) -> bool:
    """Whether one of the rules names all that this one does; False also if that is hard to tell."""
    globs = [one for one in rules if "?" not in one and tool_of_command(one) is None]
    return rule in rules or any(_matches(tool_of_command(rule) or rule, one) for one in globs)


class _Glob(NamedTuple):
    """The parts of a glob before, between and after its asterisks, and their number of characters."""

    first: str
    middle: tuple[str, ...]
    last: str
    size: int


@lru_cache(maxsize=1_000)
def _parsed(rule: str) -> _Glob:
    first, *others = rule.split("*")
    *middle, last = others or [""]
    return _Glob(first, tuple(filter(None, middle)), last, len(rule) - len(others))


def _matches(name: str, rule: str) -> bool:
    first, middle, last, size = _parsed(rule)
    if len(name) < size or (len(name) > size and "*" not in rule):
        return False
    at, end = len(first), len(name) - len(last)
    if not (_matches_at(name, 0, first) and _matches_at(name, end, last)):
        return False
    for piece in middle:
        # The first match of each piece leaves most room for the others.
        at = _find_piece(name, piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def _find_piece(name: str, piece: str, begin: int, end: int) -> int:
    """The first index of the piece, -1 if it is not found."""
    if "?" not in piece:
        return name.find(piece, begin, end)
    return next((at for at in range(begin, end - len(piece) + 1) if _matches_at(name, at, piece)), -1)


def _matches_at(name: str, start: int, piece: str) -> bool:
    if "?" not in piece:
        return name.startswith(piece, start)
    return all(wanted in ("?", char) for wanted, char in zip(piece, name[start:], strict=False))
