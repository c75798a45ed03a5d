"""How texts become tokens, queries and snippets."""

from __future__ import annotations

import time

import pytest

from backend_api.search.domain import SNIPPET_CHARACTERS, query_of, score, snippet_of, tokens_of


def test_words_are_found_without_regard_to_case_and_width() -> None:
    assert tokens_of("Tea, TEA and Ｔｅａ_time; Straße") == ["tea", "and", "time", "strasse"]


def test_chinese_is_found_by_its_characters_and_their_pairs() -> None:
    assert set(tokens_of("数据库")) == {"数", "据", "库", "数据", "据库"}
    assert query_of("数据库").tokens == ("数据", "据库")
    assert query_of("库").tokens == ("库",)
    assert set(query_of("用docker部署").tokens) == {"用", "docker", "部署"}


def test_the_last_word_may_be_the_beginning_of_one_until_something_follows() -> None:
    assert (query_of("big migr").tokens, query_of("big migr").prefix) == (("big",), "migr")
    assert (query_of("big migr ").tokens, query_of("big migr ").prefix) == (("big", "migr"), None)


@pytest.mark.parametrize("text", ["", "   ", '"-*$^', "_ _", "。，"])
def test_what_has_no_word_in_it_is_empty(text: str) -> None:
    assert query_of(text).is_empty


def test_operators_are_no_operators() -> None:
    assert query_of('$where: "a" -b OR *c').words == ("where", "a", "b", "or", "c")


def test_a_long_query_has_so_many_words_and_takes_no_time() -> None:
    begun = time.monotonic()
    assert len(query_of("a1 b2 c3 " * 250).words) == 3
    assert len(query_of(" ".join(f"w{n}" for n in range(400))).tokens) <= 12
    assert len(query_of("字" * 2000).tokens) == 1
    assert len(tokens_of("word" * 500_000)) == 1
    assert time.monotonic() - begun < 20


def test_a_snippet_shows_the_place_in_one_line() -> None:
    text = "x " * 200 + "the\n\nmigration of the database" + " y" * 200
    snippet = snippet_of(text, ["migration"])
    assert "the migration of the database" in snippet
    assert snippet.startswith("…")
    assert snippet.endswith("…")
    assert len(snippet) <= SNIPPET_CHARACTERS + 2
    assert snippet_of("short", ["nothing"]) == "short"


def test_words_that_stand_together_count_most() -> None:
    query = query_of("green tea")
    assert score("a green tea please", query) > score("tea, not green", query) > score("tea", query)
