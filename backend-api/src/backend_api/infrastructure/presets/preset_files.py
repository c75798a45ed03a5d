"""Presets as files: one Markdown text each, which is what the agent is told, below what stands between two lines of
`+++` in TOML. Those of the product are beside this file, in `product`; a deployment's folder adds others, or has its
own of the same name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from backend_api.domain.agent.options import Effort, session_options
from backend_api.domain.agent.presets import Preset, PresetText, Suggestion

MAX_BYTES = 64 * 1024
MAX_FILES = 100
PRODUCT = ("general", "coding", "research", "writing", "chat")
"""In the order in which they are offered."""
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_FENCE = re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE)
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_FORM = "it begins with what it is in TOML, between two lines of +++, and goes on with what the agent is told"

Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")
]
ToolRules = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=200)]


class PresetFileError(ValueError):
    """A file of a preset that can't be used; the message names the file and the reason."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Suggestion(_Strict):
    title: Line
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


class _Text(_Strict):
    label: Annotated[Line, Field(max_length=40)]
    description: Line
    suggestions: Annotated[tuple[_Suggestion, ...], Field(max_length=6)] = ()

    def text(self) -> PresetText:
        suggestions = [Suggestion(title=one.title, text=one.text) for one in self.suggestions]
        return PresetText(label=self.label, description=self.description, suggestions=suggestions)


class _Options(_Strict):
    """As a session's; `model` stands beside them."""

    max_turns: Annotated[int, Field(ge=1, le=500, strict=True)] | None = None
    enable_thinking: Annotated[bool, Field(strict=True)] | None = None
    thinking_effort: Effort | None = None
    denied_tools: ToolRules | None = None
    asked_tools: ToolRules | None = None
    allowed_tools: ToolRules | None = None
    enable_approval: Annotated[bool, Field(strict=True)] | None = None
    enable_plan_mode: Annotated[bool, Field(strict=True)] | None = None


class _Head(_Text):
    model: Line | None = None
    tools: ToolRules | None = None
    options: _Options = _Options()
    translations: dict[Annotated[str, Field(pattern=r"^[a-z]{2}$")], _Text] = {}


def read_presets(folder: Path | None = None) -> list[Preset]:
    """Those of the product, then those that the folder adds, by name. Raises `PresetFileError`."""
    product = files("backend_api.infrastructure.presets").joinpath("product")
    found = {name: parse_preset(name, product.joinpath(f"{name}.md").read_bytes(), f"{name}.md") for name in PRODUCT}
    for path in _listed(folder) if folder is not None else ():
        found[path.stem] = parse_preset(path.stem, _content(path), str(path))
    return list(found.values())


def parse_preset(preset_id: str, content: bytes, where: str) -> Preset:
    """`where` names the file in what is said of a fault. Raises `PresetFileError`."""
    if not _ID.fullmatch(preset_id):
        raise PresetFileError(f"{where}: its name has other characters than a-z, 0-9, - and _, or more than 64")
    if len(content) > MAX_BYTES:
        raise PresetFileError(f"{where}: it is larger than {MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise PresetFileError(f"{where}: it is no UTF-8 text: {error.reason} at byte {error.start}") from error
    if unseen := _UNSEEN.search(text):
        raise PresetFileError(f"{where}: it has the control character U+{ord(unseen.group()):04X}")
    before, *rest = _FENCE.split(text, maxsplit=2)
    if before.strip() or len(rest) != 2:
        raise PresetFileError(f"{where}: {_FORM}")
    head = _head(rest[0], where)
    return Preset(
        id=preset_id,
        text=head.text(),
        translations={language: translated.text() for language, translated in head.translations.items()},
        prompt=rest[1].strip(),
        tools=None if head.tools is None else frozenset(head.tools),
        options=session_options(head.model, head.options.model_dump(mode="json")),
    )


def _head(text: str, where: str) -> _Head:
    try:
        return _Head.model_validate(tomllib.loads(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise PresetFileError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:  # of a number with thousands of digits, too
        raise PresetFileError(f"{where}: what stands between the lines of +++ is no TOML: {error}") from error


def _listed(folder: Path) -> Sequence[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix == ".md" and not path.name.startswith("."))
    except OSError as error:
        raise PresetFileError(f"{folder} can't be read: {error.strerror}") from error
    if len(found) > MAX_FILES:
        raise PresetFileError(f"{folder} has more than {MAX_FILES} presets")
    return found


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise PresetFileError(f"{path}: it is no file")
    try:
        with path.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise PresetFileError(f"{path}: it can't be read: {error.strerror}") from error
