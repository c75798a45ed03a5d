"""Presets: a prompt, a set of tools and options, under one name that a session chooses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backend_api.agent.options import NO_OPTIONS, Options, defaults_of, merged
from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_rules import is_named


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A suggestion for a first message: `title` is shown, and `text` is sent."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetText:
    """A preset's texts for people, in one language."""

    label: str
    description: str
    suggestions: Sequence[Suggestion] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A choice of prompt, tools and options. `prompt` is a part of the system prompt; `tools` names the tools, exactly
    or by globs, and None is all; `first` are those of them defined in the prompt beside the usual ones, as long as
    there is room; `translations` are by language (`zh`). Its `options` override those of layers below and yield to a
    session's own; it lifts no protection set by a layer below (`defaults_of`)."""

    id: str
    text: PresetText
    translations: Mapping[str, PresetText] = field(default_factory=dict[str, PresetText])
    prompt: str = ""
    tools: frozenset[str] | None = None
    first: frozenset[str] = frozenset()
    options: Options = NO_OPTIONS

    def has(self, name: str) -> bool:
        """Whether the preset includes the tool of that name."""
        return self.tools is None or is_named(name, self.tools)

    def may_have(self, prefix: str) -> bool:
        """Whether the preset includes any tool whose name begins with the prefix."""
        return self.tools is None or any(_may_begin(rule, prefix) for rule in self.tools)

    def has_sandbox(self, tools: Sequence[ToolSpec]) -> bool:
        """Whether one of these tools is in the preset and needs a sandbox."""
        return any(tool.needs_sandbox and self.has(tool.name) for tool in tools)


def _may_begin(rule: str, prefix: str) -> bool:
    """Whether the rule can match a name that begins with the prefix."""
    fixed = re.split(r"[*?]", rule, maxsplit=1)[0]
    return fixed.startswith(prefix) or (fixed != rule and prefix.startswith(fixed))


NO_PRESET = Preset(id="", text=PresetText(label="", description=""))
"""The preset with all tools and no prompt."""


class Layers(NamedTuple):
    """The preset of a session, the options merged from all layers, and those merged from the layers below the
    session's."""

    preset: Preset
    options: Options
    below: Options


class Presets:
    """The presets of a deployment, in display order. A session without a choice, or whose choice no longer exists, gets
    the default."""

    def __init__(self, presets: Sequence[Preset] = (NO_PRESET,), *, default: str = NO_PRESET.id) -> None:
        """Raises `KeyError` if no preset has the default's id."""
        self.all = tuple(presets)
        self._by_id = {preset.id: preset for preset in presets}
        self.default = self._by_id[default]

    def find(self, preset_id: str) -> Preset | None:
        return self._by_id.get(preset_id)

    def layered(self, defaults: Options, session: Options) -> Layers:
        """The layers of a session; `defaults` are those below the preset's, merged."""
        chosen = defaults.preset if session.preset is None else session.preset
        preset = self._by_id.get(chosen, self.default) if chosen is not None else self.default
        below = defaults_of(defaults, preset.options)
        return Layers(preset, merged(below, session), below)
