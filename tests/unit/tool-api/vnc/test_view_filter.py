"""The view-only filter: what passes is exactly what asks for pictures, wherever the stream is cut."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_api.vnc.view_filter import RfbProtocolError, ViewerFilter

HELLO = b"RFB 003.008\n" + b"\x01" + b"\x01"
EXTENDED_MOUSE = -316


def set_encodings(*encodings: int) -> bytes:
    return struct.pack(">BxH", 2, len(encodings)) + b"".join(struct.pack(">i", one) for one in encodings)


def cut_text(body: bytes, *, extended: bool = False) -> bytes:
    return struct.pack(">B3xi", 6, -len(body) if extended else len(body)) + body


def fence(payload: bytes) -> bytes:
    return struct.pack(">B3xIB", 248, 1, len(payload)) + payload


u16 = st.integers(0, 0xFFFF)
u32 = st.integers(0, 0xFFFFFFFF)
allowed = st.one_of(
    st.binary(min_size=19, max_size=19).map(lambda body: b"\x00" + body),
    st.lists(st.integers(-(2**31), 2**31 - 1).filter(lambda one: one != EXTENDED_MOUSE), max_size=40).map(
        lambda encodings: set_encodings(*encodings)
    ),
    st.tuples(st.integers(0, 1), u16, u16, u16, u16).map(lambda v: struct.pack(">BBHHHH", 3, *v)),
    st.tuples(st.integers(0, 1), u16, u16, u16, u16).map(lambda v: struct.pack(">BBHHHH", 150, *v)),
    st.binary(max_size=64).map(fence),
)
dropped = st.one_of(
    st.tuples(st.integers(0, 1), u32).map(lambda v: struct.pack(">BBxxI", 4, *v)),
    st.tuples(st.integers(0, 255), u16, u16).map(lambda v: struct.pack(">BBHH", 5, *v)),
    st.tuples(st.binary(max_size=300), st.booleans()).map(lambda v: cut_text(v[0], extended=v[1])),
    st.binary(min_size=3, max_size=3).map(lambda body: b"\xfa" + body),
    st.integers(0, 255).map(lambda n: struct.pack(">BxHHBx", 251, 800, 600, n) + bytes(range(16)) * n),
    st.binary(max_size=300).map(lambda body: struct.pack(">BBH", 253, 128, len(body)) + body),
    st.tuples(u16, u32, u32).map(lambda v: struct.pack(">BBHII", 255, 0, *v)),
    st.sampled_from([0, 1]).map(lambda operation: struct.pack(">BBH", 255, 1, operation)),
    st.binary(min_size=6, max_size=6).map(lambda body: struct.pack(">BBH", 255, 1, 2) + body),
)
messages = st.lists(st.one_of(allowed.map(lambda m: (m, True)), dropped.map(lambda m: (m, False))), max_size=12)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[start:end] for start, end in itertools.pairwise(edges)]


@given(messages, st.lists(st.integers(min_value=0), max_size=30))
def test_exactly_the_allowed_messages_pass_however_the_stream_is_cut(
    sent: list[tuple[bytes, bool]], cuts: list[int]
) -> None:
    stream = HELLO + b"".join(message for message, _ in sent)
    wanted = HELLO + b"".join(message for message, passes in sent if passes)
    view = ViewerFilter()

    assert b"".join(view.feed(piece) for piece in pieces(stream, cuts)) == wanted


@given(messages)
def test_a_stream_fed_byte_by_byte_gives_the_same(sent: list[tuple[bytes, bool]]) -> None:
    stream = HELLO + b"".join(message for message, _ in sent)
    wanted = HELLO + b"".join(message for message, passes in sent if passes)
    view = ViewerFilter()

    assert b"".join(view.feed(bytes([byte])) for byte in stream) == wanted


@given(st.binary(max_size=400), st.lists(st.integers(min_value=0), max_size=10))
def test_garbage_is_refused_or_framed_never_crashes_and_never_passes_input(garbage: bytes, cuts: list[int]) -> None:
    view, second = ViewerFilter(), ViewerFilter()
    try:
        passed = b"".join(view.feed(piece) for piece in pieces(HELLO + garbage, cuts))
    except RfbProtocolError:
        return

    assert second.feed(passed) == passed


def test_an_unknown_message_is_refused() -> None:
    for kind in set(range(256)) - {0, 2, 3, 4, 5, 6, 150, 248, 250, 251, 253, 255}:
        view = ViewerFilter()
        view.feed(HELLO)

        with pytest.raises(RfbProtocolError, match="unknown message"):
            view.feed(bytes([kind]))


@pytest.mark.parametrize(
    "message",
    [
        struct.pack(">BxH", 2, 1025),
        struct.pack(">B3xi", 6, 16 * 1024 * 1024 + 1),
        struct.pack(">B3xi", 6, -(2**31)),
        struct.pack(">B3xIB", 248, 0, 65),
        struct.pack(">BBH", 255, 2, 0),
    ],
)
def test_an_absurd_length_is_refused(message: bytes) -> None:
    view = ViewerFilter()
    view.feed(HELLO)

    with pytest.raises(RfbProtocolError):
        view.feed(message)


def test_another_security_type_than_none_is_refused() -> None:
    view = ViewerFilter()
    view.feed(b"RFB 003.008\n")

    with pytest.raises(RfbProtocolError, match="security"):
        view.feed(b"\x10")


def test_another_version_is_refused() -> None:
    with pytest.raises(RfbProtocolError, match="version"):
        ViewerFilter().feed(b"RFB 004.001\n")


def test_the_oldest_version_chooses_no_security_type() -> None:
    stream = b"RFB 003.003\n" + b"\x00" + struct.pack(">BBHHHH", 3, 0, 0, 0, 10, 10)

    assert ViewerFilter().feed(stream) == stream


def test_a_pointer_event_of_a_client_with_more_buttons_is_one_byte_longer() -> None:
    view = ViewerFilter()
    view.feed(HELLO + set_encodings(0, EXTENDED_MOUSE))
    update = struct.pack(">BBHHHH", 3, 0, 0, 0, 10, 10)

    assert view.feed(struct.pack(">BBHHB", 5, 0x81, 1, 1, 3) + update) == update
    assert view.feed(struct.pack(">BBHH", 5, 0x01, 1, 1) + update) == update


def test_a_large_dropped_message_is_not_kept_in_memory() -> None:
    view = ViewerFilter()
    view.feed(HELLO + cut_text(b"x" * 8_000_000)[:100])

    assert view.feed(b"x" * 1_000_000) == b""
    assert view.held == 0


def test_the_size_that_a_viewer_wants_is_told_and_not_passed_on() -> None:
    told: list[tuple[int, int]] = []
    size = struct.pack(">BxHHBx", 251, 544, 736, 1) + bytes(16)
    key = struct.pack(">BBxxI", 4, 1, 65)
    for view_only, passed in ((True, b""), (False, key)):
        view = ViewerFilter(view_only=view_only, want_size=lambda *size: told.append(size))
        assert view.feed(HELLO) == HELLO
        assert b"".join(view.feed(bytes([byte])) for byte in size + key) == passed
    assert told == [(544, 736)] * 2


@given(messages, st.lists(st.integers(min_value=0), max_size=30))
def test_all_but_sizes_pass_for_who_has_control_however_the_stream_is_cut(
    sent: list[tuple[bytes, bool]], cuts: list[int]
) -> None:
    stream = HELLO + b"".join(message for message, _ in sent)
    wanted = HELLO + b"".join(message for message, _ in sent if message[0] != 251)
    view = ViewerFilter(view_only=False)

    assert b"".join(view.feed(piece) for piece in pieces(stream, cuts)) == wanted
