"""What an edit changed."""

from __future__ import annotations

import difflib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_api.tools.files.diff import MAX_DIFF_CHARACTERS, unified_diff

TEXTS = st.lists(st.sampled_from("abcd"), max_size=30).map("\n".join)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_the_lines_that_changed_are_told_with_their_numbers(start: str, old: str, new: str, end: str) -> None:
    before, after = f"{start}\n{old}\n{end}", f"{start}\n{new}\n{end}"
    told = unified_diff("x", before, after).splitlines()
    lines, at, shown = before.splitlines(), 0, list[str]()
    for line in told[2:]:
        if line.startswith("@@"):
            first = int(line.split()[1].split(",")[0][1:])
            count = line.split()[1].partition(",")[2]
            first = first if count == "0" else first - 1
            shown += lines[at:first]
            at = first
        elif line.startswith("+"):
            shown.append(line[1:])
        else:
            assert lines[at] == line[1:]
            shown += [line[1:]] if line.startswith(" ") else []
            at += 1
    assert shown + lines[at:] == after.splitlines()


def test_one_change_in_a_file_is_told_as_everywhere() -> None:
    before = "".join(f"line {number}\n" for number in range(50))
    after = before.replace("line 25\n", "line x\nline y\n")
    expected = difflib.unified_diff(before.splitlines(), after.splitlines(), "a/f", "b/f", lineterm="")
    assert unified_diff("f", before, after) == "\n".join(expected)


@pytest.mark.parametrize(("count", "kinds"), [(20_000, 133), (1000, 100), (1_000_000, 200), (5000, 5000)])
def test_no_file_takes_long(count: int, kinds: int) -> None:
    before = "".join(f"{number * 7919 % kinds}\n" for number in range(count))
    began = time.process_time()
    told = unified_diff("x", before, before.replace("1", "x"))
    assert time.process_time() - began < 5
    assert len(told) < MAX_DIFF_CHARACTERS + 100
