from __future__ import annotations

import pytest

from backend_api.models.wire.tool_calls import arguments_of


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "9" * 5_000])
def test_numbers_that_no_json_holds_are_broken_arguments(number: str) -> None:
    assert arguments_of(f'{{"timeout_s": {number}}}') is None
    assert arguments_of(f'{{"points": [{{"x": [1, {number}]}}]}}') is None


def test_whole_arguments_are_taken_as_they_are() -> None:
    assert arguments_of('{"a": [1, 2.5, {"b": null}], "c": "1e999"}') == {"a": [1, 2.5, {"b": None}], "c": "1e999"}
    assert arguments_of(" ") == {}
