"""Differences of one file, joined: what they tell is the difference from before the first to after the last."""

from __future__ import annotations

import difflib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_api.changes.domain.differences import MAX_LINES, Comparisons, Edit, Hunk, UnjoinableError, hunks_of


def diff(before: list[str], after: list[str]) -> str:
    return "\n".join(difflib.unified_diff(before, after, "a/x", "b/x", lineterm=""))


def patched(before: list[str], given: str) -> list[str]:
    """The file after a difference, by the line numbers of its hunks."""
    after = list(before)
    hunks = hunks_of(given) if given else list[Hunk]()
    for hunk in reversed(hunks):
        old = [text for mark, text in hunk.lines if mark != "+"]
        assert after[hunk.skipped : hunk.skipped + len(old)] == old
        after[hunk.skipped : hunk.skipped + len(old)] = [text for mark, text in hunk.lines if mark != "-"]
    return after


_LINES = st.lists(st.sampled_from("abcd"), max_size=30)


@given(texts=st.lists(_LINES, min_size=2, max_size=6))
def test_joined_differences_lead_from_the_first_text_to_the_last(texts: list[list[str]]) -> None:
    edit = Edit()
    for before, after in itertools.pairwise(texts):
        if before != after:
            edit.join(diff(before, after))
    joined = edit.diff()
    assert patched(texts[0], joined) == texts[-1]
    # Also where no comparisons are left.
    assert patched(texts[0], edit.diff(Comparisons(left=0))) == texts[-1]


def test_two_edits_of_one_line_are_one_change_with_what_is_known_around_it() -> None:
    first = [*"123456789", "x", *"abcdefghi"]
    second, third = [*first[:9], "y", *first[10:]], [*first[:9], "z", "zz", *first[10:]]
    edit = Edit()
    edit.join(diff(first, second))
    edit.join(diff(second, third))
    assert edit.diff() == "@@ -7,7 +7,8 @@\n 7\n 8\n 9\n-x\n+z\n+zz\n a\n b\n c"


def test_what_was_taken_back_is_no_difference_also_among_lines_alike() -> None:
    first, second = [*"aacbaabab"], [*"baab"]
    edit = Edit()
    for before, after in ((first, second), (second, [*"ab"]), ([*"ab"], first)):
        edit.join(diff(before, after))
    assert edit.diff() == ""


def test_a_written_file_is_new_as_it_is_after_later_edits() -> None:
    edit = Edit.whole("a\nb\n")
    edit.append("c\n")
    edit.join(diff(["a", "b", "c"], ["a", "B", "c"]))
    assert edit.is_whole
    assert edit.diff() == "@@ -0,0 +1,3 @@\n+a\n+B\n+c"


CUT = "@@ -1,3 +1,3 @@\n-a\n[... the rest of the diff is left out ...]"


@pytest.mark.parametrize(
    "given", ["", "no difference", CUT, "@@ -1 +1 @@\n-a", "@@ -0,1 +1 @@\n-a\n+b", "@@ -1 +1 @@\n-not a\n+b"]
)
def test_what_does_not_fit_changes_nothing(given: str) -> None:
    edit = Edit()
    edit.join("@@ -1 +1 @@\n-0\n+a")
    with pytest.raises(UnjoinableError):
        edit.join(given)
    assert edit.diff() == "@@ -1,1 +1,1 @@\n-0\n+a"


def test_more_lines_than_are_joined_are_refused() -> None:
    lines = "\n".join(f"+{number}" for number in range(MAX_LINES + 1))
    with pytest.raises(UnjoinableError):
        Edit().join(f"@@ -0,0 +1,{MAX_LINES + 1} @@\n{lines}")
