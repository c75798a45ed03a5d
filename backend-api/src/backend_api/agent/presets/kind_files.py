"""Kinds of sub-agents as files of a deployment, in the same format as presets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from backend_api.agent.presets.prompt_files import (
    Head,
    Line,
    PromptFileError,
    parse_prompt_file,
    prompt_file_content,
    prompt_files,
)
from backend_api.agent.subagent_kinds import (
    MAIN,
    MAX_CALLS,
    MAX_DESCRIPTION_CHARACTERS,
    MAX_KINDS,
    MAX_MINUTES,
    MAX_PROMPT_CHARACTERS,
    MAX_TOKENS,
    MAX_TOOL_RULE_CHARACTERS,
    MAX_TOOL_RULES,
    MIN_TOKENS,
    NAME,
    SubagentKind,
    is_built_in,
)

_Description = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=MAX_DESCRIPTION_CHARACTERS, pattern=r"^[^\x00-\x1f]*$"
    ),
]
_Rule = Annotated[str, Field(min_length=1, max_length=MAX_TOOL_RULE_CHARACTERS)]


class _KindHead(Head):
    description: _Description
    tools: Annotated[tuple[_Rule, ...], Field(max_length=MAX_TOOL_RULES)] | None = None
    model: Line | None = None
    max_calls: Annotated[int, Field(ge=1, le=MAX_CALLS)] | None = None
    max_tokens: Annotated[int, Field(ge=MIN_TOKENS, le=MAX_TOKENS)] | None = None
    max_minutes: Annotated[int, Field(ge=1, le=MAX_MINUTES)] | None = None


def read_kinds(folder: Path) -> list[SubagentKind]:
    """The kinds of a folder, by name. Raises `PromptFileError`."""
    paths = prompt_files(folder, MAX_KINDS, "agents")
    return [parse_kind(path.stem, prompt_file_content(path), str(path)) for path in paths]


def parse_kind(name: str, content: bytes, where: str) -> SubagentKind:
    """Parse a kind; `where` names the file in error messages. Raises `PromptFileError`."""
    head, prompt = parse_prompt_file(name, content, where, _KindHead)
    if not NAME.fullmatch(name):
        raise PromptFileError(f"{where}: its name has more than 40 characters")
    if is_built_in(name) or name == MAIN:
        raise PromptFileError(f"{where}: the product has an agent of this name, which no file replaces")
    if not 0 < len(prompt) <= MAX_PROMPT_CHARACTERS:
        raise PromptFileError(f"{where}: what the agent is told has 1 to {MAX_PROMPT_CHARACTERS} characters")
    return SubagentKind(
        name=name,
        description=head.description,
        prompt=prompt,
        tools=None if head.tools is None else frozenset(head.tools),
        model=head.model,
        max_calls=head.max_calls,
        max_tokens=head.max_tokens,
        max_minutes=head.max_minutes,
    )
