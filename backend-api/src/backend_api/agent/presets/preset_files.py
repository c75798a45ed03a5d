"""Presets as files: one Markdown text each, which is the prompt, below a TOML head between two lines of `+++`. The
product's own are beside this file, in `product`; a deployment's folder adds others, or replaces one by the same
name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from backend_api.agent.options import Effort, session_options
from backend_api.agent.preset import Preset, PresetText, Suggestion
from backend_api.agent.presets.prompt_files import (
    Head,
    Line,
    ToolRules,
    parse_prompt_file,
    prompt_file_content,
    prompt_files,
)

MAX_FILES = 100
PRODUCT = ("general", "coding", "research", "writing", "chat")
"""The product's presets, in display order."""


class _Suggestion(Head):
    title: Line
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


class _Text(Head):
    label: Annotated[Line, Field(max_length=40)]
    description: Line
    suggestions: Annotated[tuple[_Suggestion, ...], Field(max_length=6)] = ()

    def text(self) -> PresetText:
        suggestions = [Suggestion(title=one.title, text=one.text) for one in self.suggestions]
        return PresetText(label=self.label, description=self.description, suggestions=suggestions)


class _Options(Head):
    """The same options as a session's; `model` stands beside them."""

    max_turns: Annotated[int, Field(ge=1, le=500, strict=True)] | None = None
    enable_thinking: Annotated[bool, Field(strict=True)] | None = None
    thinking_effort: Effort | None = None
    denied_tools: ToolRules | None = None
    asked_tools: ToolRules | None = None
    allowed_tools: ToolRules | None = None
    enable_approval: Annotated[bool, Field(strict=True)] | None = None
    enable_plan_mode: Annotated[bool, Field(strict=True)] | None = None
    enable_teams: Annotated[bool, Field(strict=True)] | None = None


class _Head(_Text):
    model: Line | None = None
    tools: ToolRules | None = None
    first_tools: ToolRules = ()
    options: _Options = _Options()
    translations: dict[Annotated[str, Field(pattern=r"^[a-z]{2}$")], _Text] = Field(default_factory=dict)


def read_presets(folder: Path | None = None) -> list[Preset]:
    """The product's presets, then those that the folder adds, by name. Raises `PromptFileError`."""
    product = files("backend_api.agent.presets").joinpath("product")
    found = {name: parse_preset(name, product.joinpath(f"{name}.md").read_bytes(), f"{name}.md") for name in PRODUCT}
    for path in prompt_files(folder, MAX_FILES, "presets") if folder is not None else ():
        found[path.stem] = parse_preset(path.stem, prompt_file_content(path), str(path))
    return list(found.values())


def parse_preset(preset_id: str, content: bytes, where: str) -> Preset:
    """Parse a preset; `where` names the file in error messages. Raises `PromptFileError`."""
    head, prompt = parse_prompt_file(preset_id, content, where, _Head)
    return Preset(
        id=preset_id,
        text=head.text(),
        translations={language: translated.text() for language, translated in head.translations.items()},
        prompt=prompt,
        tools=None if head.tools is None else frozenset(head.tools),
        first=frozenset(head.first_tools),
        options=session_options(head.model, head.options.model_dump(mode="json")),
    )
