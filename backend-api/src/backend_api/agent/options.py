"""Options of how an agent works: one value, merged from layers and read into a `Setup` at each opening.

Layers, lowest first: deployment, user, folder, preset, session. All but that of a folder exist so far; it is merged
into those below the preset in `RunServices` and in `UserRules`, which hand them to `Presets.layered`. An option that
protects a person holds if any layer below the session sets it (`defaults_of`); only the session's may lift it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache, reduce
from typing import Any, Literal, cast

from backend_api.agent.tool_rules import covers

Effort = Literal["high", "max"]
AgentMode = Literal["normal", "plan"]
"""The mode of an agent: in plan mode it only reads, until a person approves its plan."""
ThinkingLevel = Literal["off", "high", "max"]
"""The thinking level requested from a model; None requests nothing, and the model's own default holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """None means not chosen. `max_turns` limits the model answers in a run, of all agents together. Calls of
    `denied_tools` are not run, and those of `asked_tools` only once a person approves them; with `enable_approval` so
    are all that change something, but for `allowed_tools`. Tools are named exactly or by globs, see `tool_rules`. With
    `enable_tracing` each model call is stored, with request and answer; with `enable_teams` the agent may begin others
    that work beside it."""

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
        """The mode in which a session begins."""
        return "plan" if self.enable_plan_mode else "normal"

    @property
    def thinking(self) -> ThinkingLevel | None:
        """The thinking level that these options request, whether the model supports it or not."""
        if self.enable_thinking is None:
            return None
        return (self.thinking_effort or "high") if self.enable_thinking else "off"


NO_OPTIONS = Options()
_NAMES = tuple(one.name for one in fields(Options))
JUDGED_BY = ("denied_tools", "asked_tools", "allowed_tools", "enable_approval")
"""Options that judge a call, read as they are when the call is made."""


@lru_cache(maxsize=256)
def defaults_of(lowest: Options, *layers: Options) -> Options:
    """Options that hold if the session chooses nothing, merged from the layers below it, lowest first: as `merged`, but
    no layer lifts the protection of another. A tool is denied, or needs approval, if any layer says so, and approvals
    and plan mode are on if any layer turns them on."""
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
    """Calls allowed without approval: a layer can exempt calls from its own approval only, not from another layer's."""
    if lower.enable_approval and upper.enable_approval:
        ours, theirs = lower.allowed_tools or frozenset(), upper.allowed_tools or frozenset()
        return frozenset(rule for rule in ours | theirs if covers(ours, rule) and covers(theirs, rule))
    if lower.enable_approval or upper.enable_approval:
        return (lower if lower.enable_approval else upper).allowed_tools
    return lower.allowed_tools if upper.allowed_tools is None else upper.allowed_tools


def merged(*layers: Options) -> Options:
    """The options of all layers: the last layer that sets a field decides."""
    chosen: dict[str, Any] = {}
    for layer in layers:
        chosen |= {name: value for name in _NAMES if (value := getattr(layer, name)) is not None}
    return Options(**chosen)


def session_options(model: str | None, stored: Mapping[str, Any], preset: str | None = None) -> Options:
    """The session's layer. Fields that an earlier version stored and that no longer exist are skipped."""
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
    """The inverse of `session_options`, without model and preset: only what is chosen."""
    chosen: dict[str, Any] = {}
    for name in _NAMES:
        value: Any = getattr(options, name)
        if value is not None and name not in ("model", "preset"):
            chosen[name] = sorted(map(str, cast("frozenset[str]", value))) if isinstance(value, frozenset) else value
    return chosen


def _tool_names(stored: object) -> frozenset[str] | None:
    return frozenset(map(str, cast("list[object]", stored))) if isinstance(stored, list) else None
