"""Globs."""

from __future__ import annotations

import re
import time

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
        ("[c-a].txt", "[c-a].txt", True),
        ("[", "[", True),
        ("(x).txt", "(x).txt", True),
        ("./*.md", "a.md", True),
    ],
)
def test_a_glob_matches_as_people_expect(pattern: str, path: str, *, matches: bool) -> None:
    assert Glob(pattern).matches(path) is matches


def as_expression(pattern: str) -> re.Pattern[str]:
    tokens = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "[!a]": "[^a/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[ab\]|\[!a\])", pattern if "/" in pattern else f"**/{pattern}")
    return re.compile("".join(tokens.get(part) or re.escape(part) for part in parts), re.DOTALL)


@given(
    st.lists(st.sampled_from(["a", "b", "/", "?", "*", "**", "**/", "[ab]", "[!a]"]), min_size=1, max_size=10),
    st.text(alphabet="ab/\n", max_size=10),
)
def test_a_glob_matches_what_its_regular_expression_would(parts: list[str], path: str) -> None:
    pattern = "".join(parts)
    assert Glob(pattern).matches(path) is bool(as_expression(pattern).fullmatch(path))


@pytest.mark.parametrize(
    "pattern", ["*a" * 499 + "b", "**a" * 333, "**/a" * 249 + "/b", "[!b]*" * 199 + "b", "*" * 1000, "**/" * 333]
)
def test_no_pattern_takes_long_over_any_name(pattern: str) -> None:
    glob = Glob(pattern)
    began = time.process_time()
    glob.matches("a" * 255 + "/" + "a" * 255)
    assert time.process_time() - began < 0.1
