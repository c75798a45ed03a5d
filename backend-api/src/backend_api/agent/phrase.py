"""The short human phrase of a tool call, rendered from the tool's template. Never fails, whatever the arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MAX_VALUE_CHARACTERS = 80
MAX_PHRASE_CHARACTERS = 200
_FIELD = re.compile(r"\{([a-zA-Z_][a-zA-Z0-9_]*)\}")


def render_phrase(template: str, arguments: Mapping[str, Any]) -> str:
    """`Running {command}` with the arguments: missing ones leave a gap, long ones are cut, lines are joined."""

    def value(match: re.Match[str]) -> str:
        found = arguments.get(match.group(1))
        return "" if found is None else _one_line(str(found), MAX_VALUE_CHARACTERS)

    return _one_line(_FIELD.sub(value, template), MAX_PHRASE_CHARACTERS)


def _one_line(text: str, limit: int) -> str:
    flat = " ".join(text[: limit * 20].split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
