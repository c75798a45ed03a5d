"""What may be chosen of how an agent works: one value, merged from layers and read into a `Setup` at each opening.

Layers, lowest first: deployment, user, folder, preset, session. All but that of a folder exist so far; it is merged
into those below the preset in `RunServices` and in `UserRules`, which hand them to `Presets.layered`. What protects a
person holds whichever of the layers below the session asks for it (`defaults_of`); the session's alone may lift it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache, reduce
from typing import Any, Literal, cast

from backend_api.agent.tool_rules import covers

Effort = Literal["high", "max"]
AgentMode = Literal["normal", "plan"]
"""In plan mode an agent only reads, until a person approves its plan."""
ThinkingLevel = Literal["off", "high", "max"]
"""What a model is asked for; None asks for nothing, and the model does as it does by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """None: not chosen. `max_turns` counts the model's answers in a run, to whichever agent; calls of
    `denied_tools` are not run, those of `asked_tools` only once a person approves them, and with `enable_approval` all
    that change something but those of `allowed_tools`. Tools are named exactly or by globs, see `tool_rules`. With
    `enable_tracing` each call of a model is stored, as it is sent and answered; with `enable_teams` the agent may begin
    others that work beside it."""

    model: str | None = None
    preset: str | None = None
    max_turns: int | None = None
    enable_thinking: bool | None = None
    thinking_effort: Effort | None = None
    denied_tools: frozenset[str] | None = None
    asked_tools: frozenset[str] | None = None
    allowed_tools: frozenset[str] | None = None
    enable_approval: bool | None = None
    enable_plan_mode: bool | None = None
    enable_tracing: bool | None = None
    enable_teams: bool | None = None

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
_NAMES = tuple(one.name for one in fields(Options))
JUDGED_BY = ("denied_tools", "asked_tools", "allowed_tools", "enable_approval")
"""What each call is judged by, as it is chosen then."""


@lru_cache(maxsize=256)
def defaults_of(lowest: Options, *layers: Options) -> Options:
    """What holds where a session chooses nothing, of the layers below it, lowest first: as `merged`, but no layer lifts
    what another one protects by. Tools that any denies are denied, those that any asks for are asked for, and approvals
    and plan mode are on where any has them on."""
    return reduce(_with_defaults, layers, lowest)


def _with_defaults(lower: Options, upper: Options) -> Options:
    return replace(
        merged(lower, upper),
        denied_tools=_union(lower.denied_tools, upper.denied_tools),
        asked_tools=_union(lower.asked_tools, upper.asked_tools),
        allowed_tools=_intersection(lower, upper),
        enable_approval=_either(lower.enable_approval, upper.enable_approval),
        enable_plan_mode=_either(lower.enable_plan_mode, upper.enable_plan_mode),
    )


def _union(lower: frozenset[str] | None, upper: frozenset[str] | None) -> frozenset[str] | None:
    return upper if lower is None else lower | (upper or frozenset())


def _either(lower: bool | None, upper: bool | None) -> bool | None:
    return upper if lower is None else lower or bool(upper)


def _intersection(lower: Options, upper: Options) -> frozenset[str] | None:
    """A layer lets calls run without the approval that it asks for itself, and not without another one's."""
    if lower.enable_approval and upper.enable_approval:
        ours, theirs = lower.allowed_tools or frozenset(), upper.allowed_tools or frozenset()
        return frozenset(rule for rule in ours | theirs if covers(ours, rule) and covers(theirs, rule))
    if lower.enable_approval or upper.enable_approval:
        return (lower if lower.enable_approval else upper).allowed_tools
    return lower.allowed_tools if upper.allowed_tools is None else upper.allowed_tools


def merged(*layers: Options) -> Options:
    """Of each field the last layer that chose it decides."""
    chosen: dict[str, Any] = {}
    for layer in layers:
        chosen |= {name: value for name in _NAMES if (value := getattr(layer, name)) is not None}
    return Options(**chosen)


def session_options(model: str | None, stored: Mapping[str, Any], preset: str | None = None) -> Options:
    """The session's layer. What an earlier version stored and no version reads is passed over."""
    names = ("max_turns", "enable_thinking", "thinking_effort", "enable_approval", "enable_plan_mode", "enable_tracing")
    turns, thinks, effort, asks, plans, traces = (stored.get(name) for name in names)
    teams = stored.get("enable_teams")
    return Options(
        model=model,
        preset=preset,
        max_turns=turns if isinstance(turns, int) else None,
        enable_thinking=thinks if isinstance(thinks, bool) else None,
        thinking_effort=effort if effort in ("high", "max") else None,
        denied_tools=_tool_names(stored.get("denied_tools")),
        asked_tools=_tool_names(stored.get("asked_tools")),
        allowed_tools=_tool_names(stored.get("allowed_tools")),
        enable_approval=asks if isinstance(asks, bool) else None,
        enable_plan_mode=plans if isinstance(plans, bool) else None,
        enable_tracing=traces if isinstance(traces, bool) else None,
        enable_teams=teams if isinstance(teams, bool) else None,
    )


def stored_options(options: Options) -> dict[str, Any]:
    """What `session_options` reads as these, but for model and preset; only what is chosen."""
    chosen: dict[str, Any] = {}
    for name in _NAMES:
        value: Any = getattr(options, name)
        if value is not None and name not in ("model", "preset"):
            chosen[name] = sorted(map(str, cast("frozenset[str]", value))) if isinstance(value, frozenset) else value
    return chosen


def _tool_names(stored: object) -> frozenset[str] | None:
    return frozenset(map(str, cast("list[object]", stored))) if isinstance(stored, list) else None
