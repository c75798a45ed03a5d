"""Globs."""

from __future__ import annotations

import pytest

from tool_api.tools.files.folders import glob_matcher


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "x/y/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("a?.txt", "ab.txt", True),
        ("a?.txt", "a/.txt", False),
        ("[!a].txt", "b.txt", True),
        ("[!a].txt", "a.txt", False),
        ("[a-c].txt", "b.txt", True),
        ("(x).txt", "(x).txt", True),
        ("./*.md", "a.md", True),
    ],
)
def test_a_glob_matches_as_people_expect(pattern: str, path: str, *, matches: bool) -> None:
    assert bool(glob_matcher(pattern).fullmatch(path)) is matches
