"""Bodies that are no stream, though one was asked for, are read for what they say."""

from __future__ import annotations

import json
from contextlib import aclosing
from itertools import cycle
from typing import Any

import pytest

from backend_api.agent.model import (
    FinishPart,
    ModelAnswerError,
    ModelContextError,
    ModelError,
    ModelMissingError,
    ModelRateLimitError,
    ModelRequest,
    ModelRequestError,
    ModelUnavailableError,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
    UserTurn,
)
from support.adapters import FORMS, adapter_of
from support.model_answers import frames_of
from support.model_seals import Form
from support.model_server import Answer, ModelServer

REQUEST = ModelRequest(model="m", system="", turns=[UserTurn(text="Hi")], tools=[], max_output_tokens=99)
Json = dict[str, Any]


async def asked(form: str, raw: bytes, content_type: str = "application/json") -> list[Part]:
    async with ModelServer(Answer(raw=raw, content_type=content_type)) as server:
        model = adapter_of(form, server.url)
        try:
            async with aclosing(model.stream(REQUEST)) as parts:
                return [part async for part in parts]
        finally:
            await model.aclose()


def whole(form: str) -> Json:
    match form:
        case "chat":
            call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}
            message = {"role": "assistant", "reasoning_content": "Hm.", "content": "I look.", "tool_calls": [call]}
            usage = {"prompt_tokens": 5, "completion_tokens": 2}
            return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage}
        case "responses":
            output = [
                {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
                {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"n": 1}'},
            ]
            usage = {"input_tokens": 5, "output_tokens": 2}
            return {"object": "response", "status": "completed", "output": output, "usage": usage}
        case _:
            content = [
                {"type": "thinking", "thinking": "Hm.", "signature": "s=="},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c", "name": "look", "input": {"n": 1}},
            ]
            usage = {"input_tokens": 5, "output_tokens": 2}
            return {"type": "message", "content": content, "stop_reason": "tool_use", "usage": usage}


MARKS = [b"", b"\xef\xbb\xbf", b"\r\n "]


@pytest.mark.parametrize(("form", "mark"), [(form, case) for form, case in zip(cycle(FORMS), MARKS, strict=False)])
async def test_a_whole_answer_in_json_is_the_answer(form: str, mark: bytes) -> None:
    parts = await asked(form, mark + json.dumps(whole(form), indent=1).encode())
    assert "".join(part.text for part in parts if isinstance(part, ThinkingPart)) == "Hm."
    assert [part.text for part in parts if isinstance(part, TextPart)] == ["I look."]
    (call,) = [part.request for part in parts if isinstance(part, ToolCallPart)]
    assert (call.call_id, call.name, call.arguments) == ("c", "look", {"n": 1})
    (used,) = [part.usage for part in parts if isinstance(part, UsagePart)]
    assert (used.input, used.output) == (5, 2)
    assert parts[-1] == FinishPart("tool_calls")


ERRORS = [
    ({"error": {"message": "no such model", "code": 404}}, ModelMissingError, "no such model", False),
    ([{"error": {"message": "slow down", "code": 429}}], ModelRateLimitError, "slow down", True),
    ({"error": {"message": "bad tool", "type": "invalid_request_error"}}, ModelRequestError, "bad tool", False),
    (
        {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
        ModelUnavailableError,
        "busy",
        True,
    ),
    ({"error": "the model is not loaded"}, ModelAnswerError, "the model is not loaded", False),
    ({"detail": [{"loc": ["body"], "msg": "field required"}]}, ModelAnswerError, "error: field required", False),
    ({"object": "error", "message": "no room", "code": 503}, ModelUnavailableError, "no room", True),
    ({"code": 1214, "msg": "参数错误"}, ModelAnswerError, "参数错误", False),
    ({"base_resp": {"status_code": 1004, "status_msg": "login fail"}}, ModelAnswerError, "login fail", False),
    ({"models": [], "version": 3}, ModelAnswerError, "its fields: models, version", False),
]


@pytest.mark.parametrize(
    ("form", "body", "kind", "told", "may_retry"),
    [(form, *case) for form, case in zip(cycle(FORMS), ERRORS, strict=False)],
)
async def test_an_error_in_json_is_told_as_what_it_says(
    form: str, body: Any, kind: type[ModelError], told: str, *, may_retry: bool
) -> None:
    with pytest.raises(ModelError) as raised:
        await asked(form, json.dumps(body).encode())
    assert (type(raised.value), raised.value.may_retry) == (kind, may_retry)
    assert told in raised.value.detail
    assert "{'" not in raised.value.detail


NO_ANSWERS = [
    (b"<!DOCTYPE html>\n<html><title>Log in &amp; go on</title>...", 'a web page ("Log in & go on")'),
    (b"<html>", "a web page"),
    (b"upstream connect error", 'the text "upstream connect error"'),
    (b'{"choices": [{', 'the text "{"choices"'),
]


@pytest.mark.parametrize(
    ("form", "raw", "told"), [(form, *case) for form, case in zip(cycle(FORMS), NO_ANSWERS, strict=False)]
)
async def test_what_is_no_answer_at_all_is_told_with_what_it_is(form: str, raw: bytes, told: str) -> None:
    with pytest.raises(ModelAnswerError) as raised:
        await asked(form, raw, "text/html")
    assert told in raised.value.detail
    assert "Check the provider's address" in raised.value.detail
    assert not raised.value.may_retry


async def test_an_answer_in_lines_of_json_is_read_line_by_line() -> None:
    lines = [{"choices": [{"delta": {"content": text}}]} for text in ("So", ".")]
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    parts = await asked("chat", "\r\n".join(map(json.dumps, [*lines, end])).encode())
    assert parts == [TextPart("So"), TextPart("."), FinishPart("stop")]


@pytest.mark.parametrize("head", [b"\xef\xbb\xbf", b"\r\n\r\n", b": hello\n\n", b"id: 1\r\nretry: 5\r\n"])
async def test_a_stream_may_begin_with_a_mark_or_a_comment_and_its_lines_end_in_two_characters(head: bytes) -> None:
    said = {"choices": [{"delta": {"content": "So."}, "finish_reason": "stop"}]}
    raw = head + b"data:" + json.dumps(said).encode() + b"\r\n\r\n: alive\r\n\r\ndata:\r\n\r\ndata: [DONE]"
    assert await asked("chat", raw, "application/json") == [TextPart("So."), FinishPart("stop")]


@pytest.mark.parametrize("form", FORMS)
async def test_a_stream_of_comments_is_told_as_an_empty_answer(form: str) -> None:
    with pytest.raises(ModelAnswerError, match="sent an empty answer") as raised:
        await asked(form, b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: [DONE]\n\n")
    assert raised.value.may_retry


ERROR_EVENTS = [
    (b'{"message": "too busy", "code": 503}', "too busy"),
    (b"too busy", "too busy"),
    (b'{"error": {"message": "too busy"}}', "too busy"),
]


@pytest.mark.parametrize(
    ("form", "data", "told"), [(form, *case) for form, case in zip(cycle(FORMS), ERROR_EVENTS, strict=False)]
)
async def test_an_event_that_is_called_an_error_is_one(form: str, data: bytes, told: str) -> None:
    with pytest.raises(ModelUnavailableError, match=told):
        await asked(form, b": hi\n\nevent: error\ndata: " + data + b"\n\n", "text/event-stream")


@pytest.mark.parametrize("form", FORMS)
async def test_what_is_not_json_in_a_stream_is_told(form: str) -> None:
    with pytest.raises(ModelUnavailableError, match="not JSON: gateway timeout"):
        await asked(form, b"data: gateway timeout\n\n")


def stream_of(form: Form) -> list[bytes]:
    return frames_of(form, Answer(texts=("So.",)), ())


def in_lines(frame: bytes) -> list[bytes]:
    data = frame.partition(b"data: ")[2].strip()
    return [data] if data == b"[DONE]" else json.dumps(json.loads(data), indent=1).encode().split(b"\n")


@pytest.mark.parametrize("form", FORMS)
async def test_what_is_not_json_is_passed_over_where_the_answer_goes_on(form: Form) -> None:
    *whole, last = stream_of(form)
    parts = await asked(form, b"data: keep-alive\n\n".join([b"", *whole, last]), "text/event-stream")
    assert [part.reason for part in parts if isinstance(part, FinishPart)] == ["stop"]
    with pytest.raises(ModelUnavailableError, match="not JSON: gateway timeout"):
        await asked(form, whole[0] + b"data: gateway timeout\n\ndata: [DONE]\n\n", "text/event-stream")
    with pytest.raises(ModelUnavailableError, match=r'not JSON: \{"cho'):
        await asked(form, whole[0] + b'data: {"cho\n\n' + whole[0] + last, "text/event-stream")


@pytest.mark.parametrize("form", FORMS)
async def test_an_event_may_have_several_lines_and_its_field_may_be_named_twice(form: Form) -> None:
    frames = stream_of(form)
    lines = [b"".join(b"data: " + line + b"\n" for line in in_lines(frame)) for frame in frames]
    for sent in (b"\n".join(lines), b"".join(frames).replace(b"data: ", b"data: data: ")):
        parts = await asked(form, sent, "text/event-stream")
        assert [part.reason for part in parts if isinstance(part, FinishPart)] == ["stop"]


@pytest.mark.parametrize("form", FORMS)
async def test_a_field_that_is_called_an_error_is_one(form: Form) -> None:
    """As of llama.cpp."""
    said = b'error: {"code": 500, "message": "the request exceeds the available context size"}\n\n'
    for begin in (b"", stream_of(form)[0]):
        with pytest.raises(ModelContextError, match="available context size"):
            await asked(form, begin + said, "text/event-stream")


async def test_what_a_gateway_says_of_the_provider_behind_it_is_told() -> None:
    error = {"message": "Provider returned error", "code": 502, "metadata": {"raw": "worker limit reached"}}
    chunk = {"error": error, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]}
    with pytest.raises(ModelUnavailableError, match="Provider returned error: worker limit reached"):
        await asked("chat", b"data: " + json.dumps(chunk).encode() + b"\n\n")


REFUSALS = [
    (
        '[{"error": {"code": 400, "message": "missing a thought_signature", "status": "INVALID_ARGUMENT"}}]',
        "missing a",
    ),
    ('{"detail": [{"loc": ["body"], "msg": "field required"}]}', "(400): field required"),
    ("<html><head><title>400 Bad Request</title></head>", "(400): 400 Bad Request"),
]


@pytest.mark.parametrize(
    ("form", "body", "told"), [(form, *case) for form, case in zip(cycle(FORMS), REFUSALS, strict=False)]
)
async def test_a_refusal_in_another_form_is_told_in_its_words(form: str, body: str, told: str) -> None:
    async with ModelServer(Answer(status=400, raw=body.encode())) as server:
        model = adapter_of(form, server.url)
        with pytest.raises(ModelRequestError) as raised:
            _ = [part async for part in model.stream(REQUEST)]
        await model.aclose()
    assert told in raised.value.detail
