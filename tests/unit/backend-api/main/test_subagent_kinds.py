"""Kinds of sub-agents of a deployment: files that are looked at before anything is opened."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backend_api.agent.subagent_kinds import BUILT_IN, MAX_KINDS, SubagentKind
from backend_api.agents.deployment_kinds import build_kinds
from backend_api.main.settings import SettingsError
from support.modules import known_tools
from support.planned import local_plan
from support.scripted import SCRIPTED

FILE = '+++\ndescription = "Bakes."\n{head}+++\n{prompt}\n'


def build(folder: Path) -> list[SubagentKind]:
    return build_kinds(folder, [SCRIPTED], known_tools())


def write(folder: Path, name: str = "baker", head: str = "", prompt: str = "Bake.") -> None:
    (folder / f"{name}.md").write_text(FILE.format(head=head, prompt=prompt))


def test_those_of_a_folder_stand_beside_those_of_the_product(tmp_path: Path) -> None:
    write(
        tmp_path,
        head=f'tools = ["file_*", "web_search"]\nmodel = "{SCRIPTED.id}"\nmax_calls = 7\n',
        prompt="  Bake.\n\nWait. ",
    )
    (tmp_path / "README.txt").write_text("Not one.")
    baker = SubagentKind(
        name="baker",
        description="Bakes.",
        prompt="Bake.\n\nWait.",
        tools=frozenset({"file_*", "web_search"}),
        model=SCRIPTED.id,
        max_calls=7,
    )
    assert build(tmp_path) == [*BUILT_IN, baker]
    assert build_kinds(None, [], []) == list(BUILT_IN)


@pytest.mark.parametrize(
    ("name", "head", "prompt", "reason"),
    [
        ("explore", "", "Bake.", "the product has an agent of this name"),
        ("main", "", "Bake.", "the product has an agent of this name"),
        ("Baker", "", "Bake.", "its name has other characters"),
        ("b" * 41, "", "Bake.", "more than 40 characters"),
        ("baker", 'tools = ["gone_*"]\n', "Bake.", "there is no tool gone_*"),
        ("baker", 'tools = ["ask_user"]\n', "Bake.", "there is no tool ask_user for sub-agents"),
        ("baker", 'model = "gone"\n', "Bake.", "model: gone is not available"),
        ("baker", "max_minutes = 26\n", "Bake.", "max_minutes: Input should be less than or equal to 25"),
        ("baker", 'label = "Baker"\n', "Bake.", "label: Extra inputs"),
        ("baker", "", "", "has 1 to 8000 characters"),
        ("baker", "", "x" * 8_001, "has 1 to 8000 characters"),
    ],
)
def test_one_that_can_not_be_used_refuses_the_start_and_says_which_and_why(
    tmp_path: Path, name: str, head: str, prompt: str, reason: str
) -> None:
    write(tmp_path, name, head, prompt)
    with pytest.raises(ValueError, match=rf"{name}\.md.*{re.escape(reason)}"):
        build(tmp_path)


def test_more_than_there_may_be_refuse_the_start_too(tmp_path: Path) -> None:
    for number in range(MAX_KINDS + 1):
        write(tmp_path, f"baker-{number}")
    with pytest.raises(ValueError, match=f"more than {MAX_KINDS} agents"):
        build(tmp_path)


def test_a_start_with_a_wrong_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, head='tools = ["gone"]\n')
    with pytest.raises(SettingsError, match="The agent baker"):
        local_plan(monkeypatch, tmp_path, AGENTS_DIR=str(tmp_path))
