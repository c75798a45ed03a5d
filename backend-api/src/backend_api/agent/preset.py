"""Presets: what an agent is told, which tools it has and how it works, under one name that a session chooses."""

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
    """Something to begin with: `text` is the message that `title` stands for."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetText:
    """What a person reads of a preset, in one language."""

    label: str
    description: str
    suggestions: Sequence[Suggestion] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """`prompt` is a part of the system prompt; `tools` names those it has, exactly or by globs, and None is all;
    `first` those of them that it is told from the start beside the usual ones, as long as there is room; `translations`
    are by language (`zh`). Its `options` count more than those of layers below, less than a session's own; it lifts
    nothing by which those below protect the person (`defaults_of`)."""

    id: str
    text: PresetText
    translations: Mapping[str, PresetText] = field(default_factory=dict[str, PresetText])
    prompt: str = ""
    tools: frozenset[str] | None = None
    first: frozenset[str] = frozenset()
    options: Options = NO_OPTIONS

    def has(self, name: str) -> bool:
        """Whether it leaves an agent the tool of that name."""
        return self.tools is None or is_named(name, self.tools)

    def may_have(self, prefix: str) -> bool:
        """Whether it leaves an agent any tool whose name begins so."""
        return self.tools is None or any(_may_begin(rule, prefix) for rule in self.tools)

    def has_sandbox(self, tools: Sequence[ToolSpec]) -> bool:
        """Whether one of these tools that it has needs a sandbox."""
        return any(tool.needs_sandbox and self.has(tool.name) for tool in tools)


def _may_begin(rule: str, prefix: str) -> bool:
    """Whether a name that begins so can be one that the rule names."""
    fixed = re.split(r"[*?]", rule, maxsplit=1)[0]
    return fixed.startswith(prefix) or (fixed != rule and prefix.startswith(fixed))


NO_PRESET = Preset(id="", text=PresetText(label="", description=""))
"""All tools, and nothing told."""


class Layers(NamedTuple):
    """The preset of a session, the options of all layers together, and those of all below the session's."""

    preset: Preset
    options: Options
    below: Options


class Presets:
    """Those of a deployment, in the order in which they are offered. A session that chose none, or one that is gone,
    has the default."""

    def __init__(self, presets: Sequence[Preset] = (NO_PRESET,), *, default: str = NO_PRESET.id) -> None:
        """Raises `KeyError` where the default is none of them."""
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
