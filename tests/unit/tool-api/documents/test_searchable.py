"""A font's table names the characters that a person searches for."""

from __future__ import annotations

from tool_api.documents.searchable_program import plain_table


def test_a_character_is_named_by_its_common_form() -> None:
    table = b"2 beginbfchar\n<9C> <2F50>\n<9D> <2EF0>\nendbfchar\n"
    assert plain_table(table) == b"2 beginbfchar\n<9C> <6BD4>\n<9D> <9F99>\nendbfchar\n"


def test_of_a_range_each_is_named_where_one_of_them_is_a_radical() -> None:
    assert plain_table(b"<0001> <0003> <2F00>\n") == b"<0001> <0003> [<4E00> <4E28> <4E36>]\n"
    assert plain_table(b"<0001> <0003> <2EF2>\n") == b"<0001> <0003> [<4E80> <9F9F> <2EF4>]\n"


def test_a_common_form_of_two_units_is_named_by_both() -> None:
    assert plain_table(b"<01> <2E87>\n") == b"<01> <D841DE28>\n"


def test_all_else_stays_as_it_is() -> None:
    table = b"1 begincodespacerange\n<00> <FF>\nendcodespacerange\n<01> <0041>\n<02> <D83DDE00>\n<03> <09> <4E00>\n"
    assert plain_table(table) == table
