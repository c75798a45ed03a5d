"""The terminal's bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tool_api.tools.shell.output import TerminalDecoder

SENTINEL = b"\x1eend\x1e"


@given(st.text(alphabet=st.characters(exclude_characters="\x1e", exclude_categories=["Cs"])), st.integers(1, 7))
def test_text_is_whole_however_its_bytes_are_cut(text: str, size: int) -> None:
    decoder, data = TerminalDecoder(SENTINEL), text.encode() + SENTINEL + b"later"
    assert "".join(decoder.feed(data[at : at + size]) for at in range(0, len(data), size)) == text
    assert decoder.is_finished


def test_what_looks_like_the_sentinel_is_text() -> None:
    decoder = TerminalDecoder(SENTINEL)
    assert decoder.feed(b"a\x1een") == "a"
    assert decoder.feed(b"x\xff") == "\x1eenx\ufffd"
    assert decoder.feed(b"\x1ee") == ""
    assert decoder.flush() == "\x1ee"


@given(st.integers(1, 9))
def test_what_ended_a_former_output_is_left_out(size: int) -> None:
    decoder = TerminalDecoder(b"\x1eend-b\x1e", b"\x1eend-")
    data = b"rest\x1eend-a\x1eone\x1e\x1eend-z\x1etwo\x1eend-b\x1elater"
    assert "".join(decoder.feed(data[at : at + size]) for at in range(0, len(data), size)) == "restone\x1etwo"
    assert decoder.is_finished
