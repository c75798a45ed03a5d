"""What servers tell of the progress of a call: a line each, bounded, without secrets."""

from __future__ import annotations

import pytest

from backend_api.kit.masking import Mask
from backend_api.mcp.client.progress import MAX_CHARACTERS, MAX_LINES, ProgressLines

SECRET = "s3cret-of-the-server"


@pytest.fixture
def shown() -> list[str]:
    return []


@pytest.fixture
def lines(shown: list[str]) -> ProgressLines:
    async def show(text: str) -> None:
        shown.append(text)

    return ProgressLines(show, Mask([SECRET]))


async def test_each_is_a_line_with_what_is_done_of_what_there_is(lines: ProgressLines, shown: list[str]) -> None:
    await lines(1, 5, None)
    await lines(2.5, 5.0, "Indexing\nthe  files")
    await lines(7, None, "more")
    assert shown == ["1/5\n", "2.5/5 Indexing the files\n", "7 more\n"]


async def test_secrets_are_hidden_also_where_a_message_is_cut(lines: ProgressLines, shown: list[str]) -> None:
    await lines(1, None, "x" * (MAX_CHARACTERS - 5) + SECRET + "y" * 1_000_000)
    assert SECRET[:5] not in shown[0]
    assert len(shown[0]) < MAX_CHARACTERS + 10


async def test_no_more_than_so_many_are_shown_and_none_after_the_end(lines: ProgressLines, shown: list[str]) -> None:
    for number in range(MAX_LINES + 10):
        await lines(number, None, None)
    assert len(shown) == MAX_LINES
    shown.clear()
    lines.end()
    await lines(1, 1, None)
    assert shown == []


async def test_what_nobody_sees_is_left_out(lines: ProgressLines, shown: list[str]) -> None:
    await lines(1, None, "a\x1b]0;title\x07b\u202ec\U000e0041")
    assert shown == ["1 a]0;titlebc\n"]
