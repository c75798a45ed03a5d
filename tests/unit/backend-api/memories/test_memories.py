"""What the agent remembers of a user: small, changed only as it was read, and refused whole where it does not fit."""

from __future__ import annotations

import pytest

from backend_api.kit.ids import UserId
from backend_api.memories.domain import MAX_FILE_BYTES, Memories
from backend_api.memories.errors import (
    MemoryChangedError,
    MemoryExistsError,
    MemoryInvalidError,
    MemoryNotFoundError,
    MemoryTooLargeError,
)
from backend_api.memories.listing import MAX_LISTED, listed, numbered, overview

NONE = Memories(user_id=UserId("anna"))
TEA = NONE.created("/memories/likes/tea.md", "Likes green tea\nNo sugar")


@pytest.mark.parametrize(
    "path",
    [
        *("", "/memories", "/memories/", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "./a", "a\nb", "a\x00b", " a"),
        *("a/b/c/d/e/f", "x" * 121, "a\u2028b", 'a"b', "a<b"),
    ],
)
def test_what_is_no_name_is_refused(path: str) -> None:
    with pytest.raises(MemoryInvalidError):
        NONE.created(path, "x")


def test_a_name_may_be_of_any_language_and_is_the_same_with_or_without_the_folder() -> None:
    assert NONE.created("/memories/喜好/茶.md", "绿茶").file("喜好/茶.md").content == "绿茶"


def test_what_is_there_is_not_written_over_by_a_new_one() -> None:
    with pytest.raises(MemoryExistsError) as refused:
        TEA.created("likes/tea.md", "Likes coffee")
    assert refused.value.present == "Likes green tea\nNo sugar"
    for name in ("likes", "likes/tea.md/more"):
        with pytest.raises(MemoryExistsError, match="either a file or a folder"):
            TEA.created(name, "x")


def test_a_text_is_replaced_where_it_stands_exactly_once() -> None:
    assert TEA.replaced("likes/tea.md", "green", "black").file("likes/tea.md").content == "Likes black tea\nNo sugar"
    for old, said in (("coffee", "not"), ("e", "4 times")):
        with pytest.raises(MemoryChangedError, match=f"is {said} in /memories/likes/tea.md") as refused:
            TEA.replaced("likes/tea.md", old, "x")
        assert refused.value.present == "Likes green tea\nNo sugar"


def test_what_overlaps_is_there_more_than_once() -> None:
    with pytest.raises(MemoryChangedError, match="2 times"):
        NONE.created("a", "aaa").replaced("a", "aa", "b")


def test_lines_are_inserted_after_one_that_is_there() -> None:
    assert TEA.inserted("likes/tea.md", 1, "Hot").file("likes/tea.md").content == "Likes green tea\nHot\nNo sugar"
    assert TEA.inserted("likes/tea.md", 0, "Hot\n").file("likes/tea.md").content.startswith("Hot\nLikes")
    assert TEA.inserted("likes/tea.md", 2, "Hot").file("likes/tea.md").content.endswith("No sugar\nHot\n")
    with pytest.raises(MemoryChangedError, match="has 2 lines only"):
        TEA.inserted("likes/tea.md", 3, "Hot")


def test_it_is_written_and_deleted_as_it_was_read() -> None:
    etag = TEA.file("likes/tea.md").etag
    changed = TEA.written("likes/tea.md", "Likes coffee", etag)
    assert changed.file("likes/tea.md").content == "Likes coffee"
    assert TEA.deleted("likes/tea.md", etag).files == []
    for attempt in (lambda: changed.written("likes/tea.md", "x", etag), lambda: changed.deleted("likes/tea.md", etag)):
        with pytest.raises(MemoryChangedError) as refused:
            attempt()
        assert refused.value.present == "Likes coffee"


def test_it_is_renamed_to_what_nothing_has() -> None:
    two = TEA.created("b", "b")
    assert sorted(two.renamed("b", "c").texts) == ["c", "likes/tea.md"]
    assert sorted(two.renamed("likes/tea.md", "likes").texts) == ["b", "likes"]
    with pytest.raises(MemoryExistsError):
        two.renamed("b", "likes/tea.md")
    with pytest.raises(MemoryNotFoundError):
        two.renamed("gone", "d")


def test_one_over_its_size_is_refused_with_the_size() -> None:
    most = NONE.created("a", "茶" * (MAX_FILE_BYTES // 3))
    assert most.file("a").size == MAX_FILE_BYTES - 1
    with pytest.raises(MemoryTooLargeError, match="4,097 bytes, and a memory has at most 4,096"):
        most.inserted("a", 1, "")


def test_all_together_have_a_bound_below_which_one_may_still_be_shortened() -> None:
    full = NONE
    for at in range(15):
        full = full.created(f"f{at}", "x" * MAX_FILE_BYTES)
    with pytest.raises(MemoryTooLargeError, match="All memories together would have"):
        full.created("f15", "x" * MAX_FILE_BYTES)
    assert full.written("f0", "short", full.file("f0").etag).size < full.size


@pytest.mark.parametrize(
    ("content", "reason"),
    [("\ud800", "half of a character"), ("a\x00b", "no NUL"), ("a\U000e0041", r"U\+E0041, which nobody sees")],
)
def test_a_text_that_can_not_be_kept_is_refused(content: str, reason: str) -> None:
    with pytest.raises(MemoryInvalidError, match=reason):
        NONE.created("a", content)


def test_words_and_emoji_of_any_language_are_kept() -> None:
    content = "می\u200cخواهم ☀️ 👨\u200d👩\u200d👧\r\n"
    assert NONE.created("a", content).file("a").content == content


def test_a_model_reads_a_line_of_each_and_how_much_room_there_is() -> None:
    assert overview(NONE) == "There are no memories yet."
    assert overview(TEA).splitlines() == [
        "/memories/likes/tea.md (24 bytes): Likes green tea",
        "36 of 65,536 bytes are used.",
    ]
    assert numbered(TEA.file("likes/tea.md"), 2, 9).splitlines()[1:] == ["2\tNo sugar"]


def test_many_and_long_ones_are_told_within_a_bound() -> None:
    many = NONE
    for at in range(MAX_LISTED + 5):
        many = many.created(f"f{at}", "x" * 500)
    lines = listed(many.files).splitlines()
    assert (len(lines), lines[-1]) == (MAX_LISTED + 1, "and 5 more, told by memory_view of /memories")
    assert max(map(len, lines)) < 200
