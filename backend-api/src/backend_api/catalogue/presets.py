"""The presets of a deployment, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from backend_api.agent.model import ModelInfo
from backend_api.agent.options import Options, stored_options
from backend_api.agent.preset import Preset, Presets
from backend_api.agent.presets.preset_files import read_presets
from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_rules import FOREIGN_PREFIX, is_named
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.kit.errors import InvalidError


def build_presets(
    folder: Path | None, defaults: Options, models: Sequence[ModelInfo], tools: Sequence[ToolSpec]
) -> Presets:
    """The presets of the product and of the folder; `tools` are all that presets may name. Raises `ValueError` that
    names file or setting, and the reason."""
    presets = read_presets(folder)
    rules = OptionRules(models, tools, defaults)
    for preset in presets:
        if fault := _fault(preset, rules):
            raise ValueError(f"The preset {preset.id} ({preset.id}.md) can't be used: {fault}")
    try:
        return Presets(presets, default=defaults.preset or "")
    except KeyError as error:
        known = ", ".join(preset.id for preset in presets)
        raise ValueError(f"DEFAULT_PRESET={defaults.preset} is unknown. Choose one of: {known}") from error


def _fault(preset: Preset, rules: OptionRules) -> str | None:
    for rule in sorted(preset.tools or ()):
        if not rule.startswith(FOREIGN_PREFIX) and not any(is_named(tool.name, [rule]) for tool in rules.tools):
            known = ", ".join(sorted(tool.name for tool in rules.tools))
            return f"tools: there is no tool {rule}. Tools: {known}"
    model = preset.options.model
    if model is not None and all(offered.id != model for offered in rules.models):
        return f"model: {model} is not available. Models: {', '.join(offered.id for offered in rules.models)}"
    chosen = stored_options(preset.options)
    # The default model's thinking is checked with another setting.
    rules = rules if model is not None else replace(rules, models=())
    try:
        rules.check(model, chosen, chosen)
    except InvalidError as error:
        return f"{(error.field or '').removeprefix('body.')}: {error.detail}"
    return None
