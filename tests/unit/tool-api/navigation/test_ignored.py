"""What a `.gitignore` leaves out, as git says it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tool_api.navigation.sources import source_files

RULES = (
    r"""
# a comment
*.gen.py
build/
/top.py
docs/*.py
!docs/kept.py
deep/**/old.py
**/any.py
ca[st].py
/one*.py
\!odd.py
node.py/
"""
    "trailing.py   \n"
)
PATHS = [
    *("a.gen.py", "x/a.gen.py", "build/a.py", "x/build/a.py", "buildx/a.py", "top.py", "x/top.py", "docs/a.py"),
    *("x/docs/a.py", "docs/kept.py", "docs/x/a.py", "deep/old.py", "deep/x/y/old.py", "any.py", "x/y/any.py"),
    *("cat.py", "cas.py", "car.py", "one1.py", "x/one1.py", "!odd.py", "trailing.py", "node.py", "#a.py"),
    *("nested/a.py", "nested/own.py", "nested/x/own.py", "nested/b.gen.py"),
]


def test_files_are_left_out_as_git_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    (tmp_path / ".gitignore").write_text(RULES)
    (tmp_path / "nested/.gitignore").write_text("own.py\n!b.gen.py\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    monkeypatch.chdir(tmp_path)
    found = {file.path for file in source_files(".", [], frozenset())}
    assert found == {path for path in listed.split("\0") if path.endswith(".py")}


def test_that_of_a_folder_above_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("app/out/a.py", "app/b.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    monkeypatch.chdir(tmp_path / "app")
    assert [file.path for file in source_files(".", [("app", "/app/out/\n")], frozenset())] == ["b.py"]


def test_environments_and_what_was_installed_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("a.py", "node_modules/x/a.js", "env/lib/a.py", ".git/a.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    (tmp_path / "env/pyvenv.cfg").touch()
    monkeypatch.chdir(tmp_path)
    assert [file.path for file in source_files(".", [], frozenset())] == ["a.py"]
