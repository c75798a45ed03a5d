"""An answer is read chunk by chunk, and what is none is told as such."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from backend_api.agent.model import ModelUnavailableError, Part, TextPart
from backend_api.models.wire.bounds import AnswerBounds
from backend_api.models.wire.endpoint import ProviderApi
from backend_api.models.wire.provider_stream import _AnswerReader  # pyright: ignore[reportPrivateUsage]

API = ProviderApi(name="It", key_setting="KEY")


class State:
    """Answers these parts of each event."""

    is_over = False

    def __init__(self, parts: Sequence[Part], closing: Sequence[Part]) -> None:
        self.parts = parts
        self.closing = closing

    def parts_of(self, event: dict[str, Any]) -> list[Part]:
        assert event is not None
        return [*self.parts]

    def events_of(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        return [answer]

    def closing_parts(self, *, is_done: bool) -> list[Part]:
        assert not is_done or not self.closing
        return [*self.closing]


def reader(*parts: Any, closing: Sequence[Any] = ()) -> _AnswerReader:
    return _AnswerReader(State(parts, closing), AnswerBounds("It"), API)


def test_what_can_not_be_told_of_an_event_is_of_another_format() -> None:
    odd: Any = 5
    said = "It's answer is not in the format of its API. Check its address, and which API is chosen for it."
    with pytest.raises(ModelUnavailableError) as told:
        list(reader(TextPart(odd)).parts_of(b"data: {}\n\n"))
    assert told.value.detail == said
    ending = reader(closing=[TextPart(odd)])
    assert [*ending.parts_of(b"data: {}\n\n")] == []
    with pytest.raises(ModelUnavailableError, match="not in the format"):
        list(ending.closing_parts())


def test_a_body_that_comes_in_small_pieces_is_not_copied_with_each() -> None:
    began, answer = time.process_time(), reader(TextPart("So."))
    for chunk in (b" \n", b'{"a": "', *[b"x" * 64] * 100_000, b'"}'):
        assert [*answer.parts_of(chunk)] == []
    assert [*answer.closing_parts()] == [TextPart("So.")]
    assert time.process_time() - began < 20
