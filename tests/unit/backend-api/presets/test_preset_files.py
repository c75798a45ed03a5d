"""Presets as files: what they say is taken as it stands, and whatever is wrong with one is said with its name."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_api.agent.options import Options
from backend_api.agent.preset import Suggestion
from backend_api.agent.presets.preset_files import MAX_FILES, PRODUCT, parse_preset, read_presets
from backend_api.agent.presets.prompt_files import MAX_BYTES, PromptFileError
from service_kit.amounts import size_text

HEAD = 'label = "Law"\ndescription = "Reads contracts."\n'
WHOLE = """\
\ufeff+++
label = "Law"
description = "Reads contracts."
model = "some-model"
tools = ["file_*", "think"]

[[suggestions]]
title = "A lease"
text = "Read my lease"

[options]
max_turns = 9
enable_thinking = true
thinking_effort = "max"
enable_approval = true
enable_plan_mode = false
asked_tools = ["file_delete"]

[translations.zh]
label = "法律"
description = "阅读合同。"
+++

You read contracts.

+++ is a line of its own here.
+++
The end.
"""


def parsed(text: str | bytes, name: str = "law") -> Any:
    return parse_preset(name, text if isinstance(text, bytes) else text.encode(), "law.md")


def outcome(content: bytes) -> tuple[Any, str]:
    """The preset, or what is said of it."""
    try:
        return parsed(content), ""
    except PromptFileError as error:
        return None, str(error)


def head(more: str = "", before: str = HEAD) -> str:
    return f"+++\n{before}{more}\n+++\nDo."


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_file_is_prompt_tools_model_and_options(ends: str) -> None:
    preset = parsed(WHOLE.replace("\n", ends))
    assert (preset.id, preset.text.label, preset.text.description) == ("law", "Law", "Reads contracts.")
    assert list(preset.text.suggestions) == [Suggestion(title="A lease", text="Read my lease")]
    assert preset.translations["zh"].label == "法律"
    assert preset.prompt == "You read contracts.\n\n+++ is a line of its own here.\n+++\nThe end."
    assert preset.tools == {"file_*", "think"}
    assert preset.options == Options(
        model="some-model",
        max_turns=9,
        enable_thinking=True,
        thinking_effort="max",
        enable_approval=True,
        enable_plan_mode=False,
        asked_tools=frozenset({"file_delete"}),
    )


def test_it_may_choose_every_option_but_those_that_are_a_conversations_alone() -> None:
    chosen: dict[str, Any] = {one.name: True for one in fields(Options)}
    chosen |= {name: ["think"] for name in chosen if name.endswith("_tools")}
    chosen |= {"thinking_effort": "max", "max_turns": 1}
    faults = {
        name: outcome(head(f"[options]\n{name} = {json.dumps(value)}").encode())[1] for name, value in chosen.items()
    }
    assert {name for name, fault in faults.items() if fault} == {"model", "preset", "enable_tracing"}


def test_what_is_left_out_is_left_to_others() -> None:
    preset = parsed(head().replace("Do.", ""))
    assert (preset.prompt, preset.tools, preset.options, list(preset.text.suggestions)) == ("", None, Options(), [])
    assert preset.has("anything")
    assert not parsed(head("tools = []")).has("anything")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("You read contracts.", "begins with what it is in TOML"),
        ("", "begins with what it is in TOML"),
        (f"+++\n{HEAD}", "begins with what it is in TOML"),
        (f"Hello\n+++\n{HEAD}+++\nDo.", "begins with what it is in TOML"),
        (head("model = "), r"not valid TOML: Invalid value \(at line 4"),
        (head(f"tools = {'[' * 5_000}"), "not valid TOML"),
        (head(f"[options]\nmax_turns = {'9' * 5_000}"), "not valid TOML: Exceeds the limit"),
        (head("label = 'again'"), "not valid TOML: Cannot overwrite a value"),
        (head(before='label = "Law"\n'), "description: Field required"),
        (head(before='label = " "\ndescription = "a"\n'), "label: String should have at least 1 character"),
        (head(before='label = "a\\nb"\ndescription = "a"\n'), "label: String should match"),
        (head(before=f'label = "{"a" * 41}"\ndescription = "a"\n'), "label: String should have at most 40"),
        (head("tool = []"), "tool: Extra inputs are not permitted"),
        (head('tools = "think"'), "tools: Input should be a valid tuple"),
        (head("tools = [1]"), r"tools\.0: Input should be a valid string"),
        (head('tools = [""]'), r"tools\.0: String should have at least 1"),
        (head("[options]\nmax_turns = 0"), r"options\.max_turns: Input should be greater than or equal to 1"),
        (head("[options]\nmax_turns = true"), r"options\.max_turns: Input should be a valid integer"),
        (head('[options]\nenable_approval = "yes"'), r"options\.enable_approval: Input should be a valid boolean"),
        (head('[options]\nthinking_effort = "low"'), r"options\.thinking_effort: Input should be 'high' or 'max'"),
        (head("[options]\nenable_tracing = true"), r"options\.enable_tracing: Extra inputs"),
        (head('[options]\nmodel = "m"'), r"options\.model: Extra inputs"),
        (head('[[suggestions]]\ntitle = "a"'), r"suggestions\.0\.text: Field required"),
        (head('[translations.zh]\nlabel = "a"'), r"translations\.zh\.description: Field required"),
        (head('[translations.chinese]\nlabel = "a"\ndescription = "a"'), "translations.chinese"),
        (head().replace("Do.", "Do\x00."), r"character U\+0000, which nobody sees"),
        (head().replace("Do.", "Do\r."), r"character U\+000D"),
        (head().replace("Do.", "Do\U000e0061."), r"character U\+E0061"),
        (head().encode() + b"\xff", r"it is not UTF-8 text: invalid start byte at byte \d+"),
        (head() + "x" * MAX_BYTES, f"larger than {size_text(MAX_BYTES)}"),
    ],
)
def test_a_broken_file_is_refused_with_its_name_and_the_reason(content: str | bytes, reason: str) -> None:
    with pytest.raises(PromptFileError, match=rf"^law\.md: .*{reason}"):
        parsed(content)


@pytest.mark.parametrize("name", ["Law", "a b", "..", "a/b", "a" * 65, "法律", "-a", ""])
def test_a_name_that_no_session_could_say_is_refused(name: str) -> None:
    with pytest.raises(PromptFileError, match="its name has other characters"):
        parsed(head(), name)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: f"+++\n{HEAD}{text}\n+++\n{text}".encode()))
def test_whatever_stands_in_a_file_is_a_preset_or_refused_by_name(content: bytes) -> None:
    preset, said = outcome(content)
    assert said.startswith("law.md: ") if preset is None else preset.text.label and "\x00" not in preset.prompt


@given(st.integers(0, len(WHOLE) - 1), st.text(max_size=8))
def test_a_file_that_was_changed_anywhere_is_a_preset_or_refused_by_name(at: int, written: str) -> None:
    text = WHOLE[:at] + written + WHOLE[at + len(written) :]
    preset, said = outcome(text.encode("utf-8", "surrogatepass"))
    assert said.startswith("law.md: ") if preset is None else preset.id == "law"


def test_a_folder_adds_presets_and_has_its_own_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "law.md").write_text(head())
    (tmp_path / "chat.md").write_text(head().replace("Law", "Small talk"))
    for passed_over in ("notes.txt", ".chat.md", "chat.md~"):
        (tmp_path / passed_over).write_text("nothing")
    presets = read_presets(tmp_path)
    assert [preset.id for preset in presets] == [*PRODUCT, "law"]
    assert next(preset.text.label for preset in presets if preset.id == "chat") == "Small talk"


def test_what_can_not_be_read_of_a_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(PromptFileError, match=re.escape(f"{tmp_path / 'gone'} can't be read")):
        read_presets(tmp_path / "gone")
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(PromptFileError, match=re.escape(f"{tmp_path / 'folder.md'}: it is no file")):
        read_presets(tmp_path)
    (tmp_path / "folder.md").rmdir()
    for number in range(MAX_FILES + 1):
        (tmp_path / f"p{number}.md").write_text(head())
    with pytest.raises(PromptFileError, match=f"more than {MAX_FILES} presets"):
        read_presets(tmp_path)


@pytest.mark.parametrize("preset", read_presets(), ids=lambda preset: preset.id)
def test_the_products_presets_say_something_and_are_whole_in_both_languages(preset: Any) -> None:
    chinese = preset.translations["zh"]
    assert len(preset.text.suggestions) == len(chinese.suggestions) == 3
    assert re.search(r"[\u4e00-\u9fff]", chinese.label + chinese.description)
    # Enough to change how an agent works, and little beside what it is sent anyway.
    assert 1_000 < len(preset.prompt) < 6_000
    assert preset.options == Options(), "what the deployment chose holds"
