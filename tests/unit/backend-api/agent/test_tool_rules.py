"""Names and globs of tools."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as some

from backend_api.agent.tool_rules import covers, is_named, is_named_in_any_case, tool_of_command

LETTERS = some.text("ab_", max_size=8)
RULES = some.text("ab_*?", max_size=10)


@given(LETTERS, RULES)
def test_a_glob_names_what_a_shell_would_name(name: str, rule: str) -> None:
    assert is_named(name, [rule]) == fnmatchcase(name, rule)


@pytest.mark.parametrize("rule", ["[a]", "[!b]", "A", "a\u200b", "", " a", "a\n"])
def test_nothing_else_stands_for_anything(rule: str) -> None:
    assert not is_named("a", [rule])


@given(LETTERS, RULES)
def test_what_protects_names_in_any_case_whatever_it_names_exactly(name: str, rule: str) -> None:
    assert is_named_in_any_case(name, [rule]) == is_named(name, [rule])
    assert is_named_in_any_case(name.upper(), [rule]) == is_named(name, [rule])
    assert is_named_in_any_case(name, [rule.upper()]) == is_named(name, [rule])


def test_all_rules_that_a_request_may_have_cost_little_however_they_are_made() -> None:
    pieces = ["b*r*o*w*s*e*r*_*s*c", "?*" * 17, "*" * 199 + "t", "*r" * 100, "*?" * 9 + "z"]
    rules = [f"{piece[:190]}*{number}"[:200] for number in range(120) for piece in pieces]
    began = time.process_time()
    assert not any(is_named("browser_screenshot", [rule]) for rule in rules)
    assert not is_named_in_any_case("browser_screenshot", rules)
    assert time.process_time() - began < 0.1


def test_a_rule_of_a_command_is_one_of_its_tool_and_has_no_globs() -> None:
    assert [tool_of_command(rule) for rule in ("sh(ls)", "sh(a)(b)", "sh()", "sh", "sh(ls")] == ["sh"] * 3 + [None] * 2
    assert covers(["s*"], "sh(ls)")
    assert covers(["sh(ls)"], "sh(ls)")
    assert not covers(["sh(*)"], "sh(ls)")
    assert not covers(["sh(ls)"], "sh")
