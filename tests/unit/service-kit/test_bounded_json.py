"""JSON of somebody who is not trusted costs little to refuse."""

from __future__ import annotations

import tracemalloc

import pytest
from pydantic import TypeAdapter

from service_kit.bounded_json import MalformedJsonError, read_json

ANY: TypeAdapter[object] = TypeAdapter(object)


@pytest.mark.parametrize("value", [b'""', b'"a"', b"1", b"[]", b"{}"])
def test_many_small_values_are_refused_without_taking_them_apart(value: bytes) -> None:
    text = b"[" + b",".join([value] * (2_000_000 // len(value))) + b"]"
    tracemalloc.start()
    try:
        with pytest.raises(MalformedJsonError, match="too many values"):
            read_json(ANY, text, most_values=10_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * len(text)


def test_as_many_as_are_allowed_are_read() -> None:
    text = b"[" + b",".join([b'"a"'] * 1_000) + b"]"
    assert read_json(ANY, text, most_values=1_000) == ["a"] * 1_000
