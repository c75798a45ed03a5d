"""Which `AGENTS.md` files hold for what a call worked on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contracts.tools import MAX_INSTRUCTION_CHARACTERS, MAX_INSTRUCTIONS, FileDisplay, ShellDisplay, ToolResult
from tool_api.files.folder_instructions import instructions_for
from tool_api.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "project" / "web").mkdir(parents=True)
    (root / "AGENTS.md").write_text("Answer in verse.")
    (root / "project" / "AGENTS.md").write_text("Tabs.\n")
    (root / "project" / "web" / "AGENTS.md").write_text("No frameworks.")
    (root / "other").mkdir()
    (root / "other" / "AGENTS.md").write_text("Of the other one.")
    return root


def read(path: str) -> ToolResult:
    return ToolResult(success=True, output="", display=FileDisplay(path=path, operation="read"))


def at(folder: str) -> ToolResult:
    return ToolResult(success=True, output="", display=ShellDisplay(command="ls", shell="main", cwd=folder))


def told(root: Path, result: ToolResult) -> list[tuple[str, str]]:
    return [(one.path, one.text) for one in instructions_for(Workspace(root), result)]


def names(root: Path, result: ToolResult) -> list[str]:
    return [path for path, _ in told(root, result)]


def test_those_of_each_folder_on_the_way_hold_the_outermost_first(root: Path) -> None:
    all_of_them = [("AGENTS.md", "Answer in verse."), ("project/AGENTS.md", "Tabs.")]
    assert told(root, read("project/main.py")) == all_of_them
    assert told(root, read("./project/web/../main.py")) == all_of_them
    assert told(root, at(f"{root}/project")) == all_of_them
    assert names(root, read("project/web")) == ["AGENTS.md", "project/AGENTS.md", "project/web/AGENTS.md"]
    changed = ToolResult(success=True, output="", changed_paths=["project/web/a.css", "other/b"])
    assert names(root, changed) == ["AGENTS.md", "project/AGENTS.md", "other/AGENTS.md", "project/web/AGENTS.md"]


def test_nothing_holds_for_a_call_on_no_file_or_outside(root: Path) -> None:
    (root.parent / "AGENTS.md").write_text("Of nobody here.")
    assert told(root, ToolResult(success=True, output="project/main.py")) == []
    assert told(root, at("/")) == told(root, read("../x")) == told(root, at(str(root.parent))) == []


def test_what_is_no_text_file_of_the_workspace_is_passed_over(root: Path) -> None:
    secret = root.parent / "secret"
    secret.write_text("of the host")
    for name in ("link", "pipe", "folder", "binary", "empty"):
        (root / name).mkdir()
    (root / "link" / "AGENTS.md").symlink_to(secret)
    os.mkfifo(root / "pipe" / "AGENTS.md")
    (root / "folder" / "AGENTS.md").mkdir()
    (root / "binary" / "AGENTS.md").write_bytes(b"\x7fELF\0\0")
    (root / "empty" / "AGENTS.md").write_text(" \n")
    for name in ("link", "pipe", "folder", "binary", "empty", "missing"):
        assert names(root, read(f"{name}/file")) == ["AGENTS.md"], name


def test_a_path_that_leads_nowhere_spoils_nothing(root: Path) -> None:
    for path in ("half \ud83d/file", "nul\0/file", "/" * 5_000 + "file", "deep/" * 3_000, "x" * 9_000, "~/file"):
        result = ToolResult.model_construct(success=True, output="", changed_paths=["project/a"])
        result.display = FileDisplay.model_construct(path=path, operation="read")
        assert "project/AGENTS.md" in names(root, result), path[:20]


def test_a_long_one_is_cut_and_says_so(root: Path) -> None:
    (root / "AGENTS.md").write_text("\U0001f600" * (MAX_INSTRUCTION_CHARACTERS + 1))
    (text,) = (text for _, text in told(root, read("a")))
    assert len(text) == MAX_INSTRUCTION_CHARACTERS == 8_000
    assert text.endswith("[It is longer; read the file for the rest.]")
    (root / "AGENTS.md").write_text("x" * MAX_INSTRUCTION_CHARACTERS)
    assert told(root, read("a")) == [("AGENTS.md", "x" * MAX_INSTRUCTION_CHARACTERS)]


def test_of_too_many_the_nearest_are_told(root: Path) -> None:
    deep = "/".join(["d"] * 12)
    (root / deep).mkdir(parents=True)
    for depth in range(1, 13):
        (root / "/".join(["d"] * depth) / "AGENTS.md").write_text(str(depth))
    found = told(root, at(f"{root}/{deep}"))
    assert [text for _, text in found] == [str(depth) for depth in range(13 - MAX_INSTRUCTIONS, 13)]


def test_instructions_in_another_encoding_are_read(root: Path) -> None:
    text = "所有的表格都用逗号分隔，第一行是标题，金额保留两位小数。"
    (root / "AGENTS.md").write_bytes(text.encode("gb18030"))
    assert ("AGENTS.md", text) in told(root, read("x.txt"))
