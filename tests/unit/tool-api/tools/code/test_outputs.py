"""What a kernel says, as the bridge tells it on."""

from __future__ import annotations

import json
from typing import Any

from tool_api.tools.code.bridge.outputs import HEAD, MAX_PICTURE, MAX_SHOWN, TAIL, Outputs, line_of
from tool_api.tools.code.bridge.wire import Message
from tool_api.tools.code.lines import MAX_LINE_BYTES, Shown, parse_line


def told(outputs: Outputs, kind: str, **content: Any) -> list[dict[str, Any]]:
    return list(outputs.take(Message(kind, "call", content)))


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
