"""What may be chosen of how an agent works: one value, merged from layers and read into a `Setup` at each opening.

Layers, lowest first: deployment, user, folder, preset, session. Deployment and session exist so far; another one takes
its place between the two in `RunServices` and in `OptionRules`, the only callers of `merged`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, cast

Effort = Literal["high", "max"]
AgentMode = Literal["normal", "plan"]
"""In plan mode an agent only reads, until a person approves its plan."""
ThinkingLevel = Literal["off", "high", "max"]
"""What a model is asked for; None asks for nothing, and the model does as it does by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """None: not chosen. `max_turns` counts the model's answers in a run, to whichever agent; calls of
    `denied_tools` are not run, those of `asked_tools` only once a person approves them, and with `enable_approval` all
    that change something but those of `allowed_tools`. Tools are named exactly or by globs, see `tool_rules`."""

    model: str | None = None
    max_turns: int | None = None
    enable_thinking: bool | None = None
    thinking_effort: Effort | None = None
    denied_tools: frozenset[str] | None = None
    asked_tools: frozenset[str] | None = None
    allowed_tools: frozenset[str] | None = None
    enable_approval: bool | None = None
    enable_plan_mode: bool | None = None

    @property
    def mode(self) -> AgentMode:
        """The one a session opens in."""
        return "plan" if self.enable_plan_mode else "normal"

    @property
    def thinking(self) -> ThinkingLevel | None:
        """What these ask for, whether the model can do it or not."""
        if self.enable_thinking is None:
            return None
        return (self.thinking_effort or "high") if self.enable_thinking else "off"


NO_OPTIONS = Options()


def merged(*layers: Options) -> Options:
    """Of each field the last layer that chose it decides."""
    chosen: dict[str, Any] = {}
    for layer in layers:
        own = {field.name: getattr(layer, field.name) for field in fields(Options)}
        chosen |= {name: value for name, value in own.items() if value is not None}
    return Options(**chosen)


def session_options(model: str | None, stored: Mapping[str, Any]) -> Options:
    """The session's layer. What an earlier version stored and no version reads is passed over."""
    names = ("max_turns", "enable_thinking", "thinking_effort", "enable_approval", "enable_plan_mode")
    turns, thinks, effort, asks, plans = (stored.get(name) for name in names)
    return Options(
        model=model,
        max_turns=turns if isinstance(turns, int) else None,
        enable_thinking=thinks if isinstance(thinks, bool) else None,
        thinking_effort=effort if effort in ("high", "max") else None,
        denied_tools=_tool_names(stored.get("denied_tools")),
        asked_tools=_tool_names(stored.get("asked_tools")),
        allowed_tools=_tool_names(stored.get("allowed_tools")),
        enable_approval=asks if isinstance(asks, bool) else None,
        enable_plan_mode=plans if isinstance(plans, bool) else None,
    )


def _tool_names(stored: object) -> frozenset[str] | None:
    return frozenset(map(str, cast("list[object]", stored))) if isinstance(stored, list) else None
