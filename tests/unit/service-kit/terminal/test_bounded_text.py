"""Bounded text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service_kit.terminal.bounded_text import BoundedText


@given(st.lists(st.text(max_size=30)), st.integers(2, 60))
def test_bounded_text_keeps_head_and_tail(pieces: list[str], limit: int) -> None:
    bounded, whole = BoundedText(limit), "".join(pieces)
    for piece in pieces:
        bounded.append(piece)
    if len(whole) <= limit:
        assert bounded.text() == whole
    else:
        assert bounded.text().startswith(whole[: limit // 2] + "\n[... ")
        assert bounded.text().endswith(" ...]\n" + whole[len(whole) - (limit - limit // 2) :])
        assert f"{len(whole) - limit} characters" in bounded.text()


@given(st.lists(st.text(max_size=30)), st.text(max_size=30), st.integers(2, 60))
def test_a_copy_goes_on_by_itself(pieces: list[str], more: str, limit: int) -> None:
    bounded, whole = BoundedText(limit), BoundedText(limit)
    for piece in pieces:
        bounded.append(piece)
        whole.append(piece)
    before = bounded.text()
    copied = bounded.copy()
    copied.append(more)
    whole.append(more)
    assert copied.text() == whole.text()
    assert bounded.text() == before
