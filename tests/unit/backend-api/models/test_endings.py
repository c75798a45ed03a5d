"""An ending that is not known is no success."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.models.wire.endings import broken_off, ending_of


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("eos", "stop"),
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("tool_calls", "tool_calls"),
        ("tool_use", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "refusal"),
        ("SAFETY", "refusal"),
        ("sensitive", "refusal"),
        ("content_filter: RECITATION", "refusal"),
        ("IMAGE_SAFETY", "refusal"),
        ("MODEL_ARMOR", "refusal"),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", None),
        ("error: stop", None),
        *(
            (word, None)
            for word in (
                "error",
                "network_error",
                "insufficient_system_resource",
                "abort",
                "new",
                "",
                7,
                None,
                ["stop"],
            )
        ),
    ],
)
def test_what_a_word_means(word: Any, reason: Any) -> None:
    assert ending_of(word) == reason


def test_the_words_of_the_provider_are_told() -> None:
    error = broken_off("It", "error", None, {"message": "upstream is gone", "code": 502})
    assert error.detail == 'It ended its answer before it was complete ("error", upstream is gone). Try again.'
    assert error.may_retry
    assert "{'" not in broken_off("It", {"a": 1}, {"b": [2]}).detail
