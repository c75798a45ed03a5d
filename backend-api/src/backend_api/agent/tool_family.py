"""A family of tools, as its tools or the agent name it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyKind:
    """A family of tools. `line` is their purpose; `tools` names them by globs, unless they name it themselves; `first`
    are those defined in the prompt. It is loaded also if a message has one of its `words`, which have no other meaning
    in work with a computer. An ordinary word such as background, port or memory is none, as a family has up to 12,000
    characters; `@` and the name of a family always loads it."""

    name: str
    line: str
    tools: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
