"""`SKILL.md`: YAML between two lines of `---`, and below it the instructions (https://agentskills.io)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import yaml

from backend_api.skills.domain.entity import MAIN
from backend_api.skills.domain.errors import SkillRefusedError

MAX_HEAD_BYTES = 16 * 1024
MAX_BYTES = 256 * 1024
MAX_DEPTH = 20
"""Levels of lists and mappings. The library takes time by the square of them: 90 s for a head of nothing but `[`."""
_HEAD = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_NO_YAML = (yaml.YAMLError, ValueError, LookupError, AttributeError, ArithmeticError, TypeError, RecursionError)
"""Errors that the library raises for values that do not fit their tags, beside its own."""
_FORM = f"{MAIN} must begin with a line of ---, then name and description in YAML, and another line of ---"


def parse_main(content: bytes) -> tuple[str, str, str]:
    """Name, description and instructions. Other fields are ignored. Raises `SkillRefusedError`."""
    if len(content) > MAX_BYTES:
        raise SkillRefusedError(f"{MAIN} is larger than {MAX_BYTES // 1024} KB.")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise SkillRefusedError(f"{MAIN} is not UTF-8 text: {error.reason} at byte {error.start}.") from error
    found = _HEAD.match(text)
    if found is None:
        raise SkillRefusedError(f"{_FORM}.")
    head = _fields(found.group(1))
    return _text(head, "name"), " ".join(_text(head, "description").split()), text[found.end() :].strip()


def _fields(text: str) -> dict[str, Any]:
    if len(text.encode()) > MAX_HEAD_BYTES:
        raise SkillRefusedError(f"The front matter of {MAIN} is larger than {MAX_HEAD_BYTES // 1024} KB.")
    try:
        _refuse_costly(text)
        # The safe loader creates plain values only.
        found: Any = yaml.safe_load(text)
    except _NO_YAML as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 2}" if isinstance(mark, yaml.Mark) else ""
        raise SkillRefusedError(f"The front matter of {MAIN} is not valid YAML{where}. {_FORM}.") from error
    if not isinstance(found, dict):
        raise SkillRefusedError(f"{_FORM}.")
    return cast("dict[str, Any]", found)


def _refuse_costly(text: str) -> None:
    """Raises `SkillRefusedError` for nesting, and for aliases, which can stand for any amount of text."""
    depth = 0
    events = cast("Iterator[object]", yaml.parse(text, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]  # untyped
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise SkillRefusedError(f"The front matter of {MAIN} uses an alias (*), which is not supported.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise SkillRefusedError(f"The front matter of {MAIN} is nested deeper than {MAX_DEPTH} levels.")


def _text(head: dict[str, Any], name: str) -> str:
    value = head.get(name)
    if not isinstance(value, str) or not value.strip():
        raise SkillRefusedError(f"The front matter of {MAIN} has no {name}, or one that is not text.")
    return value.strip()
