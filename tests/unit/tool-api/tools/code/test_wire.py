"""Messages of the Jupyter protocol."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest

from tool_api.tools.code.bridge.wire import Message, Wire

KEY = b"key"


def signed(*parts: bytes, key: bytes = KEY) -> list[bytes]:
    return [b"<IDS|MSG>", hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode(), *parts]


def test_what_is_packed_is_read_and_belongs_to_no_request() -> None:
    _, frames = Wire(KEY).pack("execute_request", {"code": "1"})
    assert Wire(KEY).unpack([b"who", *frames]) == Message("execute_request", "", {"code": "1"})


def test_the_signature_of_another_key_counts_for_nothing() -> None:
    assert Wire(KEY).unpack(Wire(b"other").pack("status", {})[1]) is None


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [b"<IDS|MSG>"],
        [b"garbage"] * 9,
        signed(b"{}", b"{}", b"{}"),
        signed(b"[]", b"{}", b"{}", b"{}"),
        signed(b"{}", b"{}", b"{}", b"not json"),
        signed(b"{}", b"{}", b"{}", b"[" * 100_000),
        signed(b"{}", b"{}", b"{}", b"\xff\xfe"),
    ],
)
def test_what_is_no_message_is_none(frames: list[bytes]) -> None:
    assert Wire(KEY).unpack(frames) is None


def test_headers_of_other_types_are_nothing() -> None:
    header = json.dumps({"msg_type": 3}).encode()
    parent = json.dumps({"msg_id": ["a", 1]}).encode()
    assert Wire(KEY).unpack(signed(header, parent, b"{}", b"{}")) == Message("", "a", {})
