from __future__ import annotations

import json
import re

import pytest

from backend_api.models.wire.faults import fault_in_stream, fault_of, is_fault


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "...", "code": "context_length_exceeded"}),
        (400, {"message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."}),
        (400, {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}),
        (400, {"message": "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000"}),
        (413, {"type": "request_too_large", "message": "Request exceeds the maximum size"}),
        (400, {"error": {"message": "the request exceeds the available context size, try increasing it"}}),
        (413, "<html><title>413 Request Entity Too Large</title></html>"),
        (413, None),
        (400, {"message": "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."}),
        (400, {"message": "Invalid request: Your request exceeded model token limit: 8192"}),
        (400, {"message": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}),
        (400, {"message": "Range of input length should be [1, 30720]"}),
        (400, {"message": "Prompt contains 32769 tokens and 0 draft tokens, too large for model with 32768"}),
        (400, {"message": "The number of tokens to keep from the initial prompt is greater than the context length."}),
        (400, {"error": "Trying to keep the first 9000 tokens when context the overflows."}),
        (400, {"message": "the model is loaded with context length of only 4096 tokens, which is not enough."}),
        (500, {"code": 500, "message": "the request exceeds the available context size", "type": "server_error"}),
    ],
)
def test_a_conversation_that_is_too_long_is_told_as_such(status: int, error: object) -> None:
    fault = fault_of(status, error, provider="P", key_setting="K", headers={})
    assert fault.code == "model_context"
    assert fault.detail.startswith("This conversation is too long for the model")
    assert re.search(r"[.!?] Go on in a new conversation", fault.detail)
    assert not fault.may_retry


def test_so_is_one_told_in_the_stream_and_others_are_not() -> None:
    told = {"code": "context_length_exceeded", "type": "invalid_request_error", "message": "too many"}
    assert fault_in_stream(told, provider="P", key_setting="K").code == "model_context"
    for status, message in ((400, "max_tokens is too large"), (400, "context is a bad field")):
        assert fault_of(status, {"message": message}, provider="P", key_setting="K", headers={}).code == "model_request"


def test_so_is_one_told_in_the_stream_without_a_status() -> None:
    """As LM Studio does."""
    said = "The number of tokens to keep from the initial prompt is greater than the context length."
    assert fault_in_stream({"message": said}, provider="P", key_setting="K").code == "model_context"
    assert fault_in_stream({"message": "no context"}, provider="P", key_setting="K").may_retry


RETRY_INFO = [{"@type": "x"}, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}]


@pytest.mark.parametrize(
    ("error", "wait_s"),
    [
        ([{"error": {"code": 429, "message": "Quota", "details": RETRY_INFO}}], 37.0),
        ({"message": "Rate limit reached. Please try again in 11.054s. Visit us."}, 11.054),
        ({"message": "Please try again in 250ms."}, 0.25),
        ({"message": "Please try again in 1h2m3.5s."}, 3723.5),
        ({"message": "Please retry after 26 seconds."}, 26.0),
        ({"message": "Please retry in 2 minutes 5 seconds"}, 125.0),
        ({"message": "Please try again in 1.2.3s."}, None),
        ({"message": "Please try again in 3 months."}, None),
        ({"message": "Try again later.", "details": [{"retryDelay": 7}, "x"]}, None),
        ({"message": "try again in " + "1 s " * 100_000}, 72.0),
    ],
)
def test_a_wait_may_be_told_in_the_error(error: object, wait_s: float | None) -> None:
    for status in (429, 503):
        fault = fault_of(status, error, provider="P", key_setting="K", headers={})
        assert fault.retry_after_s == (None if wait_s is None else pytest.approx(wait_s))
        told = fault_of(status, error, provider="P", key_setting="K", headers={"retry-after": "3"})
        assert told.retry_after_s == 3.0


def test_too_many_requests_are_told_by_their_type() -> None:
    told = {"type": "too_many_requests", "message": "slow"}
    assert fault_in_stream(told, provider="P", key_setting="K").code == "model_rate_limit"


def test_what_a_model_wrote_that_was_no_call_is_told() -> None:
    """As Groq tells it."""
    error = {"message": "Failed to call a function.", "code": "tool_use_failed"}
    wrote = "<function=look>\n" + "x" * 1_000_000
    fault = fault_of(400, error | {"failed_generation": wrote}, provider="P", key_setting="K", headers={})
    said = "P refused the request (400): Failed to call a function. The model wrote: <function=look> xxx"
    assert fault.detail.startswith(said)
    assert len(fault.detail) < 400
    assert fault_of(400, error | {"failed_generation": ""}, provider="P", key_setting="K", headers={}).detail == (
        "P refused the request (400): Failed to call a function."
    )


def test_a_model_that_is_not_there_is_told_by_status_or_code() -> None:
    for status, error in ((404, {"message": "not found"}), (400, {"code": "model_not_found"})):
        fault = fault_of(status, error, provider="P", key_setting="K", headers={})
        assert (fault.code, fault.is_of_request, fault.may_retry) == ("model_missing", False, False)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_passes_is_asked_again(status: int) -> None:
    fault = fault_of(status, {"message": "busy"}, provider="P", key_setting="K", headers={"retry-after": "3"})
    assert (fault.may_retry, fault.retry_after_s) == (True, 3.0)


@pytest.mark.parametrize(
    ("status", "error"), [(400, {}), (401, {}), (403, {}), (404, {}), (422, {}), (429, {"code": "insufficient_quota"})]
)
def test_what_does_not_pass_is_not_asked_again(status: int, error: dict[str, str]) -> None:
    assert not fault_of(status, error, provider="P", key_setting="K", headers={}).may_retry


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Incorrect key", "P refused the key (401): Incorrect key. Check K."),
        ("No!", "P refused the key (401): No! Check K."),
    ],
)
def test_what_a_provider_says_of_a_key_is_a_sentence_of_its_own(said: str, told: str) -> None:
    assert fault_of(401, {"message": said}, provider="P", key_setting="K", headers={}).detail == told
    none = fault_of(403, {}, provider="P", key_setting="K", headers={})
    assert none.detail == "P refused the key (403). Check K."


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("[", "]"), ('{"error":', "}"), ('{"message":', "}"), ('{"detail":[', "]}"), ('{"metadata":{"raw":', "}}")],
)
def test_an_error_that_is_nested_for_ever_is_told_without_what_it_says(opening: str, closing: str) -> None:
    error: object = json.loads(opening * 450 + '"no"' + closing * 450)
    for one in (error, {"message": error}):
        assert fault_of(500, one, provider="P", key_setting="K", headers={}).detail == "P is not available now (500)."
        assert fault_in_stream(one, provider="P", key_setting="K").detail == "P is not available now (500)."
        assert is_fault({"message": one}) is False


def test_what_an_error_says_further_inside_is_told() -> None:
    error: object = json.loads('{"error":[' * 5 + '{"detail": [{"msg": {"message": "no"}}], "status": 418}' + "]}" * 5)
    assert fault_of(500, error, provider="P", key_setting="K", headers={}).detail == "P is not available now (500): no"
    assert (
        fault_in_stream({"error": {"error": {"code": "429"}}}, provider="P", key_setting="K").code == "model_rate_limit"
    )
