"""Bodies that two readers could understand differently."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_filter.refusals import Refused
from engine_filter.strict_json import MAX_DEPTH, dumps, loads

REFUSED: dict[str, bytes] = {
    "a name twice": b'{"a": 1, "a": 2}',
    "a name twice, once in capitals": b'{"Privileged": false, "privileged": true}',
    "a name twice further in": b'{"HostConfig": {"Binds": [], "binds": ["/:/x"]}}',
    "a name twice by an escape": b'{"Binds": [], "\\u0042inds": ["/:/x"]}',
    "a long s": '{"HostCon\u017fig": {}, "Bind\u017f": ["/:/x"]}'.encode(),
    "a Kelvin sign by an escape": b'{"Networ\\u212aMode": "host"}',
    "no UTF-8": b'{"a": "\xff"}',
    "half a pair": b'{"a": "\\ud800"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"a": 1}',
    "a NUL": b'{"a": "x\\u0000y"}',
    "a NUL in a name": b'{"a\\u0000": 1}',
    "a number that is none": b'{"a": NaN}',
    "a number without end": b'{"a": Infinity}',
    "a part of a number": b'{"a": 1.5}',
    "a number with an exponent": b'{"a": 1e3}',
    "a large number": b'{"a": 9223372036854775808}',
    "a number of many digits": b'{"a": ' + b"9" * 10_000 + b"}",
    "a list": b"[]",
    "nothing": b"",
    "null": b"null",
    "two values": b"{}{}",
    "a comment": b"{/* */}",
    "deep lists": b'{"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "a little too deep": b'{"a": ' + b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1) + b"}",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_be_read_in_two_ways_is_refused(name: str) -> None:
    with pytest.raises(Refused):
        loads(REFUSED[name])


_NAMES = st.sampled_from(["Privileged", "privileged", "PRIVILEGED", "Bind\u017f", "a", "A", "", "\0", "\u212a"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES | st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(_VALUES)
def test_what_is_read_is_what_is_written(value: Any) -> None:
    try:
        read = loads(json.dumps(value).encode())
    except Refused:
        return
    assert read == value
    assert loads(dumps(read)) == read
    assert _folded_once(read)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    with contextlib.suppress(Refused):
        assert isinstance(loads(text), dict)


def _folded_once(value: Any) -> bool:
    """No two names an object has are the same to a reader that ignores case."""
    if isinstance(value, dict):
        names = [str(name).casefold() for name in value]
        return len(names) == len(set(names)) and all(_folded_once(one) for one in value.values())
    return all(_folded_once(one) for one in value) if isinstance(value, list) else True
