"""Globs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_api.glob import Glob


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "x/y/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("src/**.py", "src/x/y/a.py", True),
        ("src/**", "src/x/y/a.py", True),
        ("src/**/x", "srcx", False),
        ("src/**/x", "src/ax", False),
        ("a?.txt", "ab.txt", True),
        ("a?.txt", "a/.txt", False),
        ("[!a].txt", "b.txt", True),
        ("[!a].txt", "a.txt", False),
        ("x/a[!b]c", "x/a/c", False),
        ("[a-c].txt", "b.txt", True),
        ("[a-]", "-", True),
        ("[!]", "[!]", True),
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True),
        ("*/*.py", "x/y/a.py", False),
        ("src/**", "src", False),
        ("{a,b}.txt", "{a,b}.txt", True),
        ("{a,b}.txt", "a.txt", False),
        ("/a.py", "a.py", False),
        ("[", "[", True),
        ("(x).txt", "(x).txt", True),
        ("./*.md", "a.md", True),
    ],
)
def test_a_glob_matches_as_people_expect(pattern: str, path: str, *, matches: bool) -> None:
    assert Glob(pattern).matches(path) is matches


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [("*.py", "a.py", True), ("*.py", "x/a.py", False), ("a/**/b", "a/x/y/b", True), ("a/b", "x/a/b", False)],
)
def test_an_anchored_glob_matches_from_the_first_folder_on(pattern: str, path: str, *, matches: bool) -> None:
    assert Glob(pattern, is_anchored=True).matches(path) is matches


@pytest.mark.parametrize(
    ("folder", "leads"), [("", True), ("src", True), ("src/x", True), ("src/x/y", False), ("docs", False)]
)
def test_it_is_known_whether_anything_below_a_folder_can_match(folder: str, *, leads: bool) -> None:
    assert bool(Glob("src/*/*.py").places_after(folder)) is leads


def as_expression(pattern: str) -> re.Pattern[str]:
    tokens = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "[!a]": "[^a/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[ab\]|\[!a\])", pattern if "/" in pattern else f"**/{pattern}")
    return re.compile("".join(tokens.get(part) or re.escape(part) for part in parts), re.DOTALL)


@given(
    st.lists(st.sampled_from(["a", "b", "?", "*", "**", "[ab]", "[!a]b", "a*", "*b", "**b"]), min_size=1, max_size=6),
    st.lists(st.text(alphabet="ab\n", min_size=1, max_size=3), min_size=1, max_size=5),
)
def test_a_glob_matches_what_its_regular_expression_would(names: list[str], path: list[str]) -> None:
    pattern = "/".join(names)
    assert Glob(pattern).matches("/".join(path)) is bool(as_expression(pattern).fullmatch("/".join(path)))
