"""Events of a stream, as the standard says and as servers send them."""

from __future__ import annotations

import time

import pytest

from backend_api.models.wire.sse import MAX_LINE_BYTES, DataLines, ErrorData, SseOverflowError, form_of


def split_anywhere(stream: bytes) -> list[list[bytes]]:
    """What is found of it, split at each place."""
    all_found: list[list[bytes]] = []
    for at in range(len(stream) + 1):
        lines = DataLines()
        all_found.append([*lines.split(stream[:at]), *lines.split(stream[at:]), *lines.split(b"\n\n")])
    return all_found


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_line_ends_in_any_way(end: bytes) -> None:
    stream = end.join([b"data: a", b"", b"event: error", b"data: b", b"", b"data:c", b""])
    for found in split_anywhere(stream):
        assert [(bytes(data), isinstance(data, ErrorData)) for data in found] == [
            (b"a", False),
            (b"b", True),
            (b"c", False),
        ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_of_one_event_are_put_together(end: bytes) -> None:
    stream = end.join([b"data: {", b'data: "a": [', b"data: {}", b"data: ]}", b"", b"data: {}", b"data: [DONE]", b""])
    for found in split_anywhere(stream):
        assert found == [b'{\n"a": [\n{}\n]}', b"{}", b"[DONE]"]


def test_events_without_an_empty_line_between_them_are_told_apart() -> None:
    for found in split_anywhere(b'data: {"a": 1}\ndata: {"b": 2}\ndata: [DONE]'):
        assert found == [b'{"a": 1}', b'{"b": 2}', b"[DONE]"]


def test_a_field_that_is_called_an_error_is_one() -> None:
    """As llama.cpp sends it."""
    for begin in (b"", b"data: {}\n\n", b"data: {}\r"):
        for found in split_anywhere(begin + b'error: {"code": 500}\n\n'):
            assert (bytes(found[-1]), isinstance(found[-1], ErrorData)) == (b'{"code": 500}', True)
    assert form_of(b"error: {}") == "stream"


def test_an_event_of_very_many_lines_is_no_longer_than_a_line_may_be() -> None:
    lines, began = DataLines(), time.process_time()
    for _ in range(MAX_LINE_BYTES // 10_010):
        assert not lines.split(b"data: {\ndata: " + b"x" * 10_000 + b"\n")
    with pytest.raises(SseOverflowError):
        lines.split(b"data: {\ndata: " + b"x" * 20_000 + b"\n")
    assert time.process_time() - began < 20
