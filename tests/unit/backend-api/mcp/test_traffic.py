"""What one connection to an MCP server may ask and be sent."""

from __future__ import annotations

import pytest

from backend_api.mcp.client.traffic import (
    MAX_CONNECTION_BYTES,
    MAX_CONNECTION_LINES,
    MAX_REQUESTS,
    MAX_STREAMS,
    MAX_VALUES,
    CountedAnswer,
    TooMuchError,
    Traffic,
)


@pytest.mark.parametrize(
    ("method", "counted"),
    [("POST", Traffic(requests=MAX_REQUESTS)), ("GET", Traffic(streams=MAX_STREAMS))],
    ids=["requests", "streams"],
)
async def test_a_connection_asks_so_often_and_no_more(method: str, counted: Traffic) -> None:
    with pytest.raises(TooMuchError):
        await counted.ask(method)


@pytest.mark.parametrize(
    ("counted", "is_stream"),
    [(Traffic(size=MAX_CONNECTION_BYTES), False), (Traffic(lines=MAX_CONNECTION_LINES), True)],
    ids=["bytes", "lines"],
)
def test_all_answers_of_a_connection_count_together(counted: Traffic, *, is_stream: bool) -> None:
    with pytest.raises(TooMuchError, match="over one connection"):
        CountedAnswer(counted, is_stream=is_stream).take(b"\n")


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_values_count_for_each_event_wherever_its_pieces_are_cut(end: bytes) -> None:
    event = b"data: [" + b"1," * (MAX_VALUES * 3) + b"1]" + end * 2
    answer = CountedAnswer(Traffic(), is_stream=True)
    for _ in range(5):
        for cut in range(0, len(event), 10_007):
            answer.take(event[cut : cut + 10_007])
    lines = CountedAnswer(Traffic(), is_stream=True)
    for _ in range(3):
        lines.take(end + event[: -2 * len(end)])
    lines.take(end)
    with pytest.raises(TooMuchError, match="values"):
        lines.take(end)
