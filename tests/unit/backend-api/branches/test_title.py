"""A conversation that branches off says so in its title, in the title's own language."""

from __future__ import annotations

import pytest

from backend_api.branches.domain import title_of_branch


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("A tour", "A tour (branch)"),
        ("运行 df -h", "运行 df -h（分支）"),
        ("東京の天気", "東京の天気 (branch)"),
        ("", ""),
        ("x" * 200, "x" * 191 + " (branch)"),
    ],
)
def test_it_is_told_from_the_one_it_comes_from(title: str, told: str) -> None:
    assert title_of_branch(title) == told
