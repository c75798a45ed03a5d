"""Options as one value: layers, what a model is asked for, and what is refused because it would not act."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_api.agent.capabilities.approval import approval
from backend_api.agent.capabilities.denied_tools import DENIED_TOOLS
from backend_api.agent.capability import Allow, Ask, Capabilities, Deny, ProposedCall, Setup
from backend_api.agent.model import ModelInfo, Thinks
from backend_api.agent.options import NO_OPTIONS, Options, defaults_of, merged, session_options
from backend_api.agent.preset import Preset, Presets, PresetText
from backend_api.agent.tool import ToolSpec
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.kit.errors import InvalidError
from support.memory.store import utc_now

MODELS = [ModelInfo(id=name, label=f"Model {name}", provider="p", thinking=name) for name in get_args(Thinks)]
LAYERS = st.builds(
    Options,
    model=st.none() | st.sampled_from(["a", "b"]),
    max_turns=st.none() | st.integers(1, 3),
    enable_thinking=st.none() | st.booleans(),
    thinking_effort=st.none() | st.sampled_from(["high", "max"]),
)

TOOLS = [
    ToolSpec(name="think", description="", parameters={}, phrase="", effect="reads"),
    ToolSpec(name="file_read", description="", parameters={}, phrase="", effect="reads"),
    ToolSpec(name="file_write", description="", parameters={}, phrase=""),
]


@given(LAYERS, LAYERS, LAYERS)
def test_the_last_layer_that_chose_decides_however_they_are_grouped(one: Options, two: Options, three: Options) -> None:
    together = merged(one, two, three)
    assert together == merged(merged(one, two), three) == merged(one, merged(two, three))
    chosen = [layer.max_turns for layer in (one, two, three) if layer.max_turns is not None]
    assert together.max_turns == (chosen[-1] if chosen else None)
    assert merged(NO_OPTIONS, one, NO_OPTIONS) == one


RULES = st.none() | st.frozensets(
    st.sampled_from(["file_write", "file_*", "file_?rite", "shell_exec", "*"]), max_size=2
)
PROTECTING = st.builds(
    Options,
    denied_tools=RULES,
    asked_tools=RULES,
    allowed_tools=RULES,
    enable_approval=st.none() | st.booleans(),
    enable_plan_mode=st.none() | st.booleans(),
)
STRICTNESS = (Allow, Ask, Deny)


@given(PROTECTING, PROTECTING, PROTECTING, st.sampled_from(["file_write", "file_write2", "shell_exec", "other"]))
def test_no_layer_below_the_session_lifts_what_another_one_protects_by(
    one: Options, two: Options, three: Options, name: str
) -> None:
    together = defaults_of(one, two, three)
    tool = ToolSpec(name=name, description="", parameters={}, phrase="")

    def strictness(options: Options) -> int:
        gates = Capabilities([approval(expires_s=300), DENIED_TOOLS], Setup(now=utc_now, options=options))
        return STRICTNESS.index(type(gates.judge(ProposedCall(tool=tool, arguments={}))))

    assert strictness(together) >= max(map(strictness, (one, two, three)))
    assert together.mode == ("plan" if any(layer.enable_plan_mode for layer in (one, two, three)) else "normal")


def test_what_protects_is_lifted_by_the_sessions_own_choice_alone() -> None:
    users = Options(enable_approval=True, denied_tools=frozenset({"a"}), asked_tools=frozenset({"b"}))
    loose = Options(
        enable_approval=False,
        enable_plan_mode=False,
        denied_tools=frozenset(),
        allowed_tools=frozenset("*"),
        max_turns=3,
    )
    preset = Preset(id="loose", text=PresetText(label="", description=""), options=loose)
    presets = Presets([preset], default="loose")
    assert presets.layered(users, NO_OPTIONS).options == replace(users, enable_plan_mode=False, max_turns=3)
    own = Options(enable_approval=False, denied_tools=frozenset(), asked_tools=frozenset())
    layers = presets.layered(users, own)
    assert layers.below == replace(users, enable_plan_mode=False, max_turns=3)
    assert layers.options == merged(layers.below, own)


def test_who_asks_for_approvals_says_which_calls_run_without() -> None:
    def asks(*allowed: str) -> Options:
        return Options(enable_approval=True, allowed_tools=frozenset(allowed))

    assert defaults_of(asks("a", "b*"), asks("a*", "b_c", "d")) == asks("a", "b_c")
    assert defaults_of(Options(allowed_tools=frozenset("a")), Options(enable_approval=True)).allowed_tools is None
    assert defaults_of(NO_OPTIONS, asks("a")) == asks("a")
    assert defaults_of(Options(enable_approval=True), asks("a")) == asks()
    assert defaults_of(asks("a"), Options(allowed_tools=frozenset("*"))) == asks("a")


def test_off_is_a_choice_and_nothing_chosen_asks_for_nothing() -> None:
    server = Options(enable_thinking=True, thinking_effort="max")
    assert merged(server, Options(enable_thinking=False)).thinking == "off"
    assert merged(server, NO_OPTIONS).thinking == "max"
    assert Options(thinking_effort="max").thinking is None
    assert Options(enable_thinking=True).thinking == "high"


def test_what_no_version_reads_of_a_stored_session_is_passed_over() -> None:
    stored = {
        "enable_approval": "yes",
        "enable_plan_mode": "yes",
        "max_turns": "many",
        "thinking_effort": "low",
        "enable_thinking": True,
    }
    assert session_options("m", stored) == Options(model="m", enable_thinking=True)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.id)
def test_a_model_is_asked_for_no_more_than_it_can(model: ModelInfo) -> None:
    asked = {wanted: model.thinking_for(wanted) for wanted in ("off", "high", None)}
    expected: dict[str, Any] = {
        "never": {"off": None, "high": None, None: None},
        "optional": {"off": "off", "high": "high", None: None},
        "always": {"off": None, "high": "high", None: None},
    }
    assert asked == expected[model.id]


def refusal(model: str, options: dict[str, Any], changed: dict[str, Any], defaults: Options = NO_OPTIONS) -> str:
    try:
        OptionRules(MODELS, TOOLS, defaults).check(model, options, changed)
    except InvalidError as error:
        return f"{error.field}: {error.detail}"
    return ""


def test_what_the_model_can_not_do_is_refused_with_the_reason() -> None:
    on, off = {"enable_thinking": True}, {"enable_thinking": False}
    reason = "Model never does not think: choose another model, or set enable_thinking to null."
    assert refusal("never", on, on) == f"body.options.enable_thinking: {reason}"
    assert "Model always always thinks" in refusal("always", off, off)
    assert refusal("never", on, {}).startswith("body.model")
    assert not refusal("optional", on, on)
    assert not refusal("never", off, off)
    assert not refusal("gone", on, on)


def test_an_effort_without_thinking_is_refused() -> None:
    effort = {"thinking_effort": "max"}
    assert refusal("optional", effort, effort).startswith("body.options.thinking_effort")
    assert not refusal("optional", effort, effort, Options(enable_thinking=True))
    assert not refusal("optional", {**effort, "enable_thinking": None}, {"enable_thinking": None})


def test_a_rule_names_a_tool_exactly_or_by_a_glob_and_one_that_would_not_act_is_refused() -> None:
    asks = {"enable_approval": True}
    for rule in ("file_write", "file_*", "*"):
        for field in ("denied_tools", "asked_tools", "allowed_tools"):
            assert not refusal("never", asks | {field: [rule]}, {field: [rule]}), (field, rule)
    assert not refusal("never", {}, {"denied_tools": ["think"]})
    assert "There is no tool file" in refusal("never", {}, {"asked_tools": ["file"]})
    assert "There is no tool [f]ile_write" in refusal("never", {}, {"denied_tools": ["[f]ile_write"]})
    assert "these never ask" in refusal("never", {}, {"asked_tools": ["file_r*"]})
    for field in ("denied_tools", "asked_tools"):
        assert not refusal("never", {}, {field: ["File_*", "MCP__github__*"]})
    assert "There is no tool File_*" in refusal("never", asks, {"allowed_tools": ["File_*"]})
    allowed = {"allowed_tools": ["file_write"]}
    assert refusal("never", allowed, allowed).startswith("body.options.allowed_tools: allowed_tools has an effect only")
    command = {"allowed_tools": ["file_write(ls *)"]}
    assert not refusal("never", asks | command, command)
    assert not refusal("never", {"asked_tools": ["file_write"]} | command, command)
    assert "allowed_tools has an effect only" in refusal("never", command, command)
    assert "There is no tool fly(ls)" in refusal("never", asks, {"allowed_tools": ["fly(ls)"]})


def test_rules_of_a_stored_session_are_read() -> None:
    stored = {"asked_tools": ["a"], "allowed_tools": [], "denied_tools": "a"}
    assert session_options(None, stored) == Options(asked_tools=frozenset("a"), allowed_tools=frozenset())
