"""Presets that could not be used stop the start, with the file and the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend_api.agent.model import ModelInfo
from backend_api.agent.preset import Presets
from backend_api.agent.subagent_kinds import BUILT_IN
from backend_api.catalogue.module import CatalogueSettings
from backend_api.catalogue.presets import build_presets
from backend_api.main.settings import SettingsError
from support.modules import known_tools
from support.planned import local_plan

MODELS = [
    ModelInfo(id="quick", label="Quick", provider="p", thinking="never"),
    ModelInfo(id="deep", label="Deep", provider="p", thinking="always"),
]


def built(folder: Path, more: str, default_preset: str = "general") -> Presets:
    (folder / "own.md").write_text(f'+++\nlabel = "Own"\ndescription = "Ours."\n{more}\n+++\nDo.')
    return build_presets(
        folder, CatalogueSettings(default_preset=default_preset).session_defaults, MODELS, known_tools()
    )


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ('tools = ["think", "telepathy"]', "tools: there is no tool telepathy. Tools: answer_shutdown, ask_to_drive"),
        ('tools = ["telepathy_*"]', r"tools: there is no tool telepathy_\*"),
        ('model = "gone"', "model: gone is not available. Models: quick, deep"),
        ('model = "quick"\n[options]\nenable_thinking = true', "options.enable_thinking: Quick does not think"),
        ('model = "deep"\n[options]\nenable_thinking = false', "options.enable_thinking: Deep always thinks"),
        ('[options]\nthinking_effort = "max"', "options.thinking_effort: thinking_effort has an effect only"),
        ('[options]\nasked_tools = ["think"]', "options.asked_tools: think names only tools that change nothing"),
        ('[options]\nallowed_tools = ["file_write"]', "options.allowed_tools: allowed_tools has an effect only"),
        ('[options]\ndenied_tools = ["gone"]', "options.denied_tools: There is no tool gone"),
        ("[options", r"what stands between the lines of \+\+\+ is not valid TOML"),
    ],
)
def test_a_preset_that_would_not_act_is_refused(tmp_path: Path, more: str, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"own\.md.*{reason}"):
        built(tmp_path, more)


def test_a_preset_may_name_what_there_may_be(tmp_path: Path) -> None:
    presets = built(tmp_path, 'tools = ["web_search", "task", "exit_plan_mode", "shell_*"]\nmodel = "deep"')
    assert [preset.id for preset in presets.all] == ["general", "coding", "research", "writing", "chat", "own"]
    thinks = "[options]\nenable_thinking = true\nthinking_effort = 'max'"
    assert built(tmp_path, thinks).find("own"), "what the default model can is another setting's matter"


def test_the_default_is_one_of_them(tmp_path: Path) -> None:
    assert built(tmp_path, "", default_preset="own").default.id == "own"
    with pytest.raises(ValueError, match=r"DEFAULT_PRESET=gone is unknown\. Choose one of: general, coding"):
        built(tmp_path, "", default_preset="gone")


def test_the_start_is_refused_before_anything_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text("no head")
    with pytest.raises(SettingsError, match=rf"{tmp_path}/own\.md: it begins with"):
        local_plan(monkeypatch, tmp_path, PROMPTS_DIR=str(tmp_path))


def test_only_those_for_conversations_have_no_computer() -> None:
    presets, tools = build_presets(None, CatalogueSettings().session_defaults, MODELS, known_tools()), known_tools()
    assert [preset.id for preset in presets.all if not preset.has_sandbox(tools)] == ["chat"]


def test_all_but_those_for_conversations_have_the_tools_of_mcp_servers() -> None:
    presets = build_presets(None, CatalogueSettings().session_defaults, MODELS, known_tools())
    assert [preset.id for preset in presets.all if not preset.may_have("mcp__wiki__")] == ["chat"]
    assert [preset.id for preset in presets.all if not preset.has("mcp__wiki__get")] == ["chat"]


def test_a_research_agent_is_handed_all_that_it_begins_with_wherever_papers_are_read() -> None:
    presets = build_presets(None, CatalogueSettings().session_defaults, MODELS, known_tools())
    (research,) = [kind for kind in BUILT_IN if kind.name == "research"]
    giving = [preset for preset in presets.all if preset.has("task") and preset.has("paper_read")]
    assert {preset.id for preset in giving} >= {"general", "research"}
    assert {preset.id: {tool for tool in research.first if not preset.has(tool)} for preset in giving} == {
        preset.id: set[str]() for preset in giving
    }
