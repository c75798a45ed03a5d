"""Calls of a stream of chat completions are put together of their pieces, by id, then by index."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from backend_api.agent.model import ModelUnavailableError, ToolCallPart
from backend_api.models.openai.chat_calls import ChatCalls
from backend_api.models.wire.bounds import MOST_CALLS

Json = dict[str, Any]


def piece(index: Any = None, call_id: Any = None, name: Any = None, arguments: Any = None, **more: Any) -> Json:
    function = {key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None}
    call = {key: value for key, value in {"index": index, "id": call_id}.items() if value is not None}
    return {**call, "function": function, **more}


def made(*pieces: object) -> list[tuple[str, Any]]:
    return [(part.request.name, part.request.arguments) for part in parts_of(*pieces)]


def parts_of(*pieces: object) -> list[ToolCallPart]:
    calls = ChatCalls("It", "m")
    for one in pieces:
        calls.add(one)
    return [part for part in calls.parts() if isinstance(part, ToolCallPart)]


ONE = [("a", {"n": 1})]
TWO = [("a", {"n": 1}), ("a", {"n": 2})]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param([piece(0, "x", "a", '{"n": 1}'), piece(1, "x", "a", '{"n": 1}')], ONE, id="whole twice"),
        pytest.param(
            [piece(0, "x", "a", ""), piece(0, None, None, '{"n": 1}'), piece(1, "x", "a", '{"n": 1}')], ONE, id="again"
        ),
        pytest.param([piece(0, "x", "a", '{"n":'), piece(1, "x", "a", '{"n": 1}')], ONE, id="part, then whole"),
        pytest.param([piece(0, "x", "a", '{"n"'), piece(1, "x", None, ": 1}")], ONE, id="goes on elsewhere"),
        pytest.param(
            [piece(0, "x", "a", '{"n": 1}'), piece(1, "x", "a", '{"n"'), piece(1, None, None, ": 1}")],
            ONE,
            id="again in pieces",
        ),
        pytest.param([piece(0, "x", "a", ""), piece(1, "x", "a", '{"n": 1}')], ONE, id="empty, then whole"),
        pytest.param([piece(0, "x", "a", '{"n": 1}'), piece(0, "x", "a", '{"n": 1}')], ONE, id="again in its place"),
        pytest.param([piece(0, "x", "a", '{"n"'), piece(0, "y", None, ": 1}")], ONE, id="its id changes"),
        pytest.param([piece(0, "x", "a", '{"n"'), piece(0, "y", "a", ": 1}")], ONE, id="its id changes, named"),
        pytest.param([piece(0, "x", "a"), piece(0, None, None, {"n": 1})], ONE, id="an object"),
        pytest.param([piece(0, None, "a", '{"n"'), piece(1, None, None, ": 1}")], ONE, id="its index changes"),
        pytest.param([piece("0", "x", "a", '{"n"'), piece("0", None, None, ": 1}")], ONE, id="an index in words"),
        pytest.param([{"name": "a", "arguments": {"n": 1}, "id": "x"}], ONE, id="no function"),
        pytest.param([piece(0, "x", "a", '{"n": 1}'), piece(1, "x", "a", '{"n": 2}')], TWO, id="one id for all"),
        pytest.param([piece(0, "x", "a", '{"n": 1}'), piece(0, "y", "a", '{"n": 2}')], TWO, id="one index for all"),
        pytest.param(
            [
                piece(0, "x", "a", ""),
                piece(0, None, None, '{"n": 1}'),
                piece(0, "y", "a", ""),
                piece(0, None, None, '{"n": 2}'),
            ],
            TWO,
            id="one index for all, in pieces",
        ),
        pytest.param([piece(None, None, "a", '{"n": 1}'), piece(None, None, "a", '{"n": 2}')], TWO, id="neither"),
        pytest.param([piece(0, "x", "a", '{"n": 1}'), piece(1, "y", "a", '{"n": 2}')], TWO, id="as they should"),
        pytest.param([piece(0, "x", "a", "{}"), piece(1, "x", "b", "{}")], [("a", {}), ("b", {})], id="one id, names"),
        pytest.param([piece(0, "x", "a", '{"n": 1}'), piece(1, "y", "a", '{"n": 1}')], ONE * 2, id="alike, two ids"),
        pytest.param([piece(0, "x", "a", "{}"), piece(0, None, None, '{"n": 1}')], ONE, id="empty first"),
        pytest.param([piece(0, "x", "a", {}), piece(0, "x", "a", {"n": 1})], ONE, id="empty first, named again"),
        pytest.param(
            [piece(0, "x", "a", "{}"), piece(0, None, None, '{"n"'), piece(0, None, None, ": 1}")],
            ONE,
            id="empty first, then in pieces",
        ),
        pytest.param([piece(0, "x", "a", "{}"), piece(0, None, None, "\n")], [("a", {})], id="empty, and a line"),
        pytest.param(
            [piece(0, "", "a", "{}"), piece(0, "", "a", '{"n": 1}')], [("a", {}), ("a", {"n": 1})], id="no ids, named"
        ),
        pytest.param([None, "x", {}, {"function": "x"}, {"function": None}], [], id="odd"),
    ],
)
def test_what_is_one_call(pieces: list[Any], expected: list[Any]) -> None:
    assert made(*pieces) == expected


def test_what_is_added_to_a_call_is_kept_piece_by_piece() -> None:
    google = {"google": {"thought_signature": "s=="}}
    (first, second) = parts_of(
        piece(0, "x", "a", "", type="function", extra_content=google, none=None),
        piece(0, None, None, '{"n": 1}', extra_content={"google": {"more": 1}}),
        {"index": 1, "id": "y", "function": {"name": "b", "arguments": "{}", "mark": "f"}},
    )
    both = {"google": {"thought_signature": "s==", "more": 1}}
    assert json.loads(first.request.opaque or "") == {
        "added": "chat",
        "model": "m",
        "call": {"extra_content": both},
        "function": {},
    }
    assert json.loads(second.request.opaque or "")["function"] == {"mark": "f"}
    assert parts_of(piece(0, "x", "a", "{}", type="function"))[0].request.opaque is None


def test_so_many_calls_are_taken_at_most() -> None:
    calls = ChatCalls("It", "m")
    for number in range(MOST_CALLS + 1):
        calls.add(piece(number, f"call_{number}", "a"))
    with pytest.raises(ModelUnavailableError, match="calls"):
        calls.add(piece(MOST_CALLS + 1, "one more", "a"))


def test_arguments_that_look_whole_again_and_again_are_not_read_each_time() -> None:
    calls, began = ChatCalls("It", "m"), time.process_time()
    for _ in range(20_000):
        calls.add(piece(0, "x", "a", "{" + "x" * 50))
        calls.add(piece(0, "x", "a", "}"))
    assert time.process_time() - began < 2
    assert [part.request.arguments for part in calls.parts() if isinstance(part, ToolCallPart)] == [None]


def test_one_id_for_very_many_calls_takes_no_long_look() -> None:
    calls, began = ChatCalls("It", "m"), time.process_time()
    for number in range(20_000):
        calls.add(piece(number, "x", "a", f'{{"n": {number}}}'))
    with pytest.raises(ModelUnavailableError, match="calls"):
        calls.parts()
    assert time.process_time() - began < 10


def test_one_call_may_come_in_more_places_than_there_are_calls() -> None:
    first, last = piece(0, "x", "a", '{"n": "'), piece(MOST_CALLS * 3, "x", None, '"}')
    between = [piece(number, "x", None, "1") for number in range(1, MOST_CALLS * 3)]
    assert made(first, *between, last) == [("a", {"n": "1" * len(between)})]
