"""Validates the fields of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend_api.agent.capabilities.teams import SPAWN
from backend_api.agent.model import ModelInfo
from backend_api.agent.options import NO_OPTIONS, Options, session_options
from backend_api.agent.preset import Preset, Presets
from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_rules import FOREIGN_PREFIX, is_named, is_named_in_any_case, tool_of_command
from backend_api.conversations.domain.entity import MAX_TITLE_CHARACTERS, Session
from backend_api.kit.errors import InvalidError

TOOL_RULES = ("denied_tools", "asked_tools", "allowed_tools")


def check_title(title: str | None) -> None:
    """Raises `InvalidError` if a title is too long."""
    if title is not None and len(title) > MAX_TITLE_CHARACTERS:
        raise InvalidError(f"A title has at most {MAX_TITLE_CHARACTERS} characters.", field="body.title")


def check_tools(tools: Sequence[ToolSpec], kind: str, rules: Sequence[str], *, field: str) -> None:
    """Checks that rules of this kind name tools they apply to, or tools of MCP servers, which a run finds. Raises
    `InvalidError` for `field`."""
    in_any_case = kind != "allowed_tools"
    names = is_named_in_any_case if in_any_case else is_named
    for rule in rules:
        if (rule.casefold() if in_any_case else rule).startswith(FOREIGN_PREFIX):
            continue
        of_command = tool_of_command(rule) if kind == "allowed_tools" else None
        named = [tool for tool in tools if names(tool.name, [of_command or rule])]
        if not named:
            reason = f"There is no tool {rule}. GET /api/tools lists them; * stands for any characters."
            raise InvalidError(reason, field=field)
        if kind != "denied_tools" and all(tool.read_only for tool in named):
            reason = f"{rule} names only tools that change nothing; these never ask. Leave it out."
            raise InvalidError(reason, field=field)


@dataclass(frozen=True, slots=True)
class OptionRules:
    """The choices left by the models on offer (the default first), the presets and the deployment's options. An option
    without effect is refused, with the reason."""

    models: Sequence[ModelInfo]
    tools: Sequence[ToolSpec] = ()
    defaults: Options = NO_OPTIONS
    presets: Presets = field(default_factory=Presets)
    team_tools: Sequence[ToolSpec] = ()
    """Tools that only a session with a team has."""

    def preset_of(self, session: Session) -> Preset:
        """The preset of a session, chosen or by default."""
        return self.presets.layered(self.defaults, Options(preset=session.preset)).preset

    def tools_of(self, session: Session) -> list[ToolSpec]:
        """The tools that its preset leaves a session, including those of a team if it may have one."""
        own = session_options(session.model, session.options, session.preset)
        preset, options, _ = self.presets.layered(self.defaults, own)
        tools = [*self.tools, *(self.team_tools if options.enable_teams else ())]
        return [tool for tool in tools if preset.has(tool.name)]

    def has_sandbox(self, session: Session) -> bool:
        """Whether its agent has tools that work in a sandbox."""
        return self.preset_of(session).has_sandbox(self.tools)

    def check_model(self, model: str | None) -> None:
        """Raises `InvalidError` if the model is not on offer."""
        if model is not None and self._info(model) is None:
            raise InvalidError("This model is not available. GET /api/models lists those that are.", field="body.model")

    def check_preset(self, preset: str | None) -> None:
        """Raises `InvalidError` if the preset is not on offer."""
        if preset is not None and self.presets.find(preset) is None:
            reason = "This preset is not available. GET /api/presets lists those that are."
            raise InvalidError(reason, field="body.preset")

    def check(
        self, model: str | None, options: Mapping[str, Any], changed: Mapping[str, Any], *, preset: str | None = None
    ) -> None:
        """Checks whether a session may have this model, these options and this preset; `changed` are the options just
        changed.

        Raises `InvalidError`.
        """
        own = session_options(model, options, preset)
        its_preset, together, _ = self.presets.layered(self.defaults, own)
        info = self._info(together.model)
        for rules in TOOL_RULES:
            check_tools([*self.tools, *self.team_tools], rules, changed.get(rules) or (), field=f"body.options.{rules}")
        acts = together.enable_approval or together.asked_tools
        allowed = changed.get("allowed_tools") or ()
        if any(not (acts and tool_of_command(rule)) for rule in allowed) and not together.enable_approval:
            reason = "allowed_tools has an effect only with enable_approval: true."
            raise InvalidError(reason, field="body.options.allowed_tools")
        if changed.get("thinking_effort") is not None and not together.enable_thinking:
            reason = "thinking_effort has an effect only with enable_thinking: true."
            raise InvalidError(reason, field="body.options.thinking_effort")
        if own.enable_teams and not its_preset.has(SPAWN):
            wrong = "options.enable_teams" if changed.get("enable_teams") else "preset"
            reason = f"The preset {its_preset.id} has no {SPAWN}: choose another one, or set enable_teams to null."
            raise InvalidError(reason, field=f"body.{wrong}")
        if own.enable_thinking is None or info is None:
            return
        if info.thinking == ("never" if own.enable_thinking else "always"):
            fault = "does not think" if own.enable_thinking else "always thinks"
            wrong = "options.enable_thinking" if changed.get("enable_thinking") is not None else "model"
            reason = f"{info.label} {fault}: choose another model, or set enable_thinking to null."
            raise InvalidError(reason, field=f"body.{wrong}")

    def _info(self, model: str | None) -> ModelInfo | None:
        if model is None:
            return self.models[0] if self.models else None
        return next((offered for offered in self.models if offered.id == model), None)
