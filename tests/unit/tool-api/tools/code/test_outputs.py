"""What a kernel says, as the bridge tells it on."""

from __future__ import annotations

import json
import time
from typing import Any

from tool_api.tools.code.bridge.outputs import (
    HEAD,
    MAX_HELD,
    MAX_PICTURE,
    MAX_SHOWN,
    MAX_SHOWN_TEXT,
    TAIL,
    Outputs,
    line_of,
)
from tool_api.tools.code.bridge.throttle import BURST
from tool_api.tools.code.bridge.wire import Message
from tool_api.tools.code.lines import MAX_LINE_BYTES, Shown, parse_line


def told(outputs: Outputs, kind: str, **content: Any) -> list[dict[str, Any]]:
    return list(outputs.take_message(Message(kind, "call", content)))


def shown(outputs: Outputs, text: str, key: str = "", kind: str = "display_data") -> list[dict[str, Any]]:
    return told(outputs, kind, data={"text/plain": text}, transient={"display_id": key})


def test_of_a_flood_the_first_and_the_last_is_told() -> None:
    outputs = Outputs()
    pieces = [told(outputs, "stream", text=f"{number:9}\n") for number in range(200_000)]
    head = "".join(line["text"] for piece in pieces for line in piece)
    rest = "".join(line["text"] for line in outputs.rest())
    assert len(head) == HEAD
    assert head.startswith("        0\n")
    assert f"{200_000 * 10 - HEAD - TAIL} characters left out" in rest
    assert rest.endswith("   199999\n")


def test_of_a_traceback_without_end_the_end_is_told_in_time() -> None:
    began = time.process_time()
    (line,) = told(Outputs(), "error", traceback=["/-" * 10_000_000, "ValueError: x"])
    assert time.process_time() - began < 20
    assert len(line["text"]) == MAX_SHOWN_TEXT
    assert line["text"].endswith("/-\nValueError: x")


def test_only_so_many_things_are_shown_and_it_is_said() -> None:
    outputs = Outputs()
    lines = [line for number in range(1000) for line in shown(outputs, str(number))]
    assert [line["type"] for line in lines].count("shown") == MAX_SHOWN
    assert f"Only the first {MAX_SHOWN}" in lines[-1]["text"]


def test_of_what_is_updated_without_end_the_last_is_told() -> None:
    outputs = Outputs()
    shown(outputs, "0", "bar")
    for number in range(1, 1000):
        shown(outputs, str(number), "bar", "update_display_data")
    (last,) = outputs.rest()
    assert (last["key"], last["text"], last["is_update"]) == ("bar", "999", True)


def plotted(outputs: Outputs, text: str, picture: str = "") -> list[dict[str, Any]]:
    """One more frame of a live plot."""
    cleared = told(outputs, "clear_output", wait=True)
    return cleared + told(outputs, "display_data", data={"text/plain": text, "image/png": picture})


def test_a_live_plot_goes_on_for_as_long_as_it_is_cleared() -> None:
    outputs = Outputs()
    lines = [line for number in range(MAX_SHOWN * 5) for line in plotted(outputs, str(number))]
    assert [line["text"] for line in lines if line["type"] == "shown"] == [str(n) for n in range(MAX_SHOWN * 5)]
    assert [line["type"] for line in lines].count("cleared") == MAX_SHOWN * 5 - 1
    written = [told(outputs, "stream", text="x" * HEAD) + told(outputs, "clear_output") for _ in range(3)]
    assert [sum(len(line.get("text", "")) for line in one) for one in written] == [HEAD] * 3


def test_what_is_cleared_and_shown_faster_than_it_may_be_told_is_told_by_its_last() -> None:
    now = 0.0
    outputs = Outputs(lambda: now)
    lines = [line for number in range(1000) for line in plotted(outputs, str(number), "A" * 1_000_000)]
    assert sum(len(line.get("picture", "")) for line in lines) <= BURST + 1_000_000
    assert [(line["type"], line.get("text")) for line in outputs.rest()] == [("cleared", None), ("shown", "999")]
    plotted(outputs, "held", "A")
    now = 10.0
    lines = told(outputs, "display_data", data={"text/plain": "beside it"})
    assert [(line["type"], line.get("text")) for line in lines] == [
        ("cleared", None),
        ("shown", "held"),
        ("shown", "beside it"),
    ]


def test_what_is_held_and_what_only_clears_is_bounded() -> None:
    outputs = Outputs(lambda: 0.0)
    for kind in ("clear_output", "stream", "error", "display_data", "clear_output"):
        content = {"text": "x" * 1_000, "traceback": ["x" * 1_000], "data": {"image/png": "A" * 1_000_000}}
        lines = [
            line for _ in range(50_000 if kind != "display_data" else 99) for line in told(outputs, kind, **content)
        ]
        assert sum(len(line_of(line)) for line in lines) <= BURST + 1_000_000
    assert list(outputs.rest()) == [{"type": "cleared"}]
    for _ in range(99):
        told(outputs, "display_data", data={"image/png": "A" * 1_000_000})
    *shown, said = outputs.rest()
    assert sum(len(line.get("picture", "")) for line in shown) <= MAX_HELD
    assert "faster than it is told" in said["text"]


def test_a_picture_that_is_too_large_is_left_out_and_named() -> None:
    (line,) = told(Outputs(), "display_data", data={"image/png": "A" * (MAX_PICTURE + 1), "text/plain": "<Figure>"})
    assert "picture" not in line
    assert "too large" in line["text"]
    assert "<Figure>" in line["text"]


def test_nonsense_in_the_place_of_fields_is_nothing() -> None:
    for content in ({"data": 3}, {"data": {"text/plain": {"a": 1}, "image/png": [1]}, "transient": 4}, {}):
        for line in told(Outputs(), "display_data", **content):
            assert parse_line(line_of(line)) == Shown(type="shown")
    assert told(Outputs(), "stream", text=7) == []
    assert told(Outputs(), "no such kind", text="x") == []
    (line,) = told(Outputs(), "error", traceback=[1, "two"], ename=3)
    assert line["text"] == "\ntwo"


def test_the_largest_line_that_is_told_is_one_that_is_read() -> None:
    (line,) = told(Outputs(), "display_data", data={"image/png": "A" * MAX_PICTURE, "text/plain": "\x01" * 1_000_000})
    data = line_of(line)
    assert len(data) < MAX_LINE_BYTES
    assert parse_line(data)


def test_half_a_character_spoils_no_line() -> None:
    (line,) = told(Outputs(), "stream", text="a\ud800b")
    assert json.loads(line_of(line))["text"] == "a?b"
