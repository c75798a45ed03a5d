"""What a model server answers, as frames of each of the three wire formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.model_seals import Block, Form, sealed

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call; `arguments` is sent as it stands, so that it may be broken. `toolset`: the one of the provider whose
    member it calls; `computer`: of a call of OpenAI's computer tool what it has beside its id."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"
    toolset: str | None = None
    computer: Json | None = None
    is_search: bool = False
    """Of OpenAI's search for tools that its caller runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One scripted answer.

    `finish` is stop, length, refusal or tool_calls (which is implied by calls); None with calls absent means stop, and
    empty that no reason is given. `thinking` is signed; `redacted` is thinking that nobody may read.
    `cut_after` closes the connection after so many frames, `hang_after` goes silent; `hang` never answers at all.
    `fault` is an error object sent in the middle of the stream. `frames` replaces everything by raw JSON frames, and
    `raw` by these bytes, of `content_type`.
    """

    texts: Sequence[str] = ("Hello", " there")
    thinking: Sequence[str] = ()
    redacted: bool = False
    calls: Sequence[Call] = ()
    finish: str | None = None
    usage: tuple[int, int, int] | None = (10, 4, 2)
    status: int = 200
    message: str = "scripted"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    first_delay_s: float = 0.0
    delay_s: float = 0.0
    cut_after: int | None = None
    hang_after: int | None = None
    hang: bool = False
    fault: Json | None = None
    frames: Sequence[Any] | None = None
    say_done: bool = True
    raw: bytes | None = None
    content_type: str = "text/event-stream"

    @property
    def ending(self) -> str:
        return self.finish if self.finish is not None else ("tool_calls" if self.calls else "stop")


def frames_of(form: Form, answer: Answer, prefix: Sequence[Block]) -> list[bytes]:
    """`prefix` is what the model was sent, to which its thinking is bound."""
    return _FORMS[form](answer, prefix) if answer.raw is None else [answer.raw] if answer.raw else []


def _data(value: Any) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\n".encode() + _data({"type": kind, **fields})


def _halves(call: Call) -> tuple[str, str]:
    half = len(call.arguments) // 2
    return call.arguments[:half], call.arguments[half:]


def _chat_chunk(delta: Json, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _data({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


def _chat(answer: Answer, prefix: Sequence[Block]) -> list[bytes]:
    if answer.frames is not None:
        frames = [_data(frame) for frame in answer.frames]
        return [*frames, b"data: [DONE]\n\n"] if answer.say_done else frames
    frames = [_chat_chunk({"role": "assistant", "content": ""})]
    frames += [_chat_chunk({"reasoning_content": text}) for text in answer.thinking]
    if answer.redacted:
        detail = {"type": "reasoning.encrypted", "index": 0, "format": "test", "data": sealed(prefix, "")}
        frames.append(_chat_chunk({"reasoning_details": [detail]}))
    frames += [_chat_chunk({"content": text}) for text in answer.texts]
    for index, call in enumerate(answer.calls):
        begin = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        frames.append(_chat_chunk({"tool_calls": [begin]}))
        frames += [
            _chat_chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}) for piece in _halves(call)
        ]
    if answer.fault is not None:
        return [*frames, _data({"error": answer.fault})]
    frames.append(_chat_chunk({}, {"refusal": "content_filter", "": None}.get(answer.ending, answer.ending)))
    if answer.usage is not None:
        read, cached, written = answer.usage
        usage = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        frames.append(_data({"id": "c1", "choices": [], "usage": usage}))
    return [*frames, b"data: [DONE]\n\n"]


def _messages(answer: Answer, prefix: Sequence[Block]) -> list[bytes]:
    if answer.frames is not None:
        return [_event(frame["type"], **frame) for frame in answer.frames]
    read, cached, written = answer.usage or (0, 0, 0)
    usage = {"input_tokens": read - cached, "cache_read_input_tokens": cached, "output_tokens": 1}
    frames = [_event("message_start", message={"id": "m1", "role": "assistant", "content": [], "usage": usage})]
    index = 0

    def block(start: Json, deltas: Sequence[Json] = ()) -> None:
        nonlocal index
        frames.append(_event("content_block_start", index=index, content_block=start))
        frames.extend(_event("content_block_delta", index=index, delta=delta) for delta in deltas)
        frames.append(_event("content_block_stop", index=index))
        index += 1

    if answer.thinking:
        deltas: list[Json] = [{"type": "thinking_delta", "thinking": text} for text in answer.thinking]
        deltas.append({"type": "signature_delta", "signature": sealed(prefix, "".join(answer.thinking))})
        block({"type": "thinking", "thinking": ""}, deltas)
    elif answer.redacted:
        block({"type": "redacted_thinking", "data": sealed(prefix, "")})
    if answer.texts:
        block({"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in answer.texts])
    for call in answer.calls:
        toolset: Json = {"toolset_name": call.toolset} if call.toolset else {}
        block(
            {"type": "tool_use", "id": call.id, "name": call.name, "input": {}, **toolset},
            [{"type": "input_json_delta", "partial_json": piece} for piece in _halves(call)],
        )
    if answer.fault is not None:
        return [*frames, _event("error", error=answer.fault)]
    reasons = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "": None}
    stop = {"stop_reason": reasons.get(answer.ending, answer.ending), "stop_sequence": None}
    frames.append(_event("message_delta", delta=stop, usage={"output_tokens": written}))
    frames.append(_event("message_stop"))
    return frames


def _responses(answer: Answer, prefix: Sequence[Block]) -> list[bytes]:
    if answer.frames is not None:
        return [_data(frame) for frame in answer.frames]
    frames = [_event("response.created", response={"id": "resp_1", "status": "in_progress", "output": []})]
    index = 0

    def item(value: Json, *deltas: tuple[str, str]) -> None:
        nonlocal index
        frames.append(_event("response.output_item.added", output_index=index, item={**value, "arguments": ""}))
        frames.extend(_event(kind, output_index=index, content_index=0, delta=delta) for kind, delta in deltas)
        frames.append(_event("response.output_item.done", output_index=index, item=value))
        index += 1

    if answer.thinking or answer.redacted:
        summary = [{"type": "summary_text", "text": "".join(answer.thinking)}] if answer.thinking else []
        seal = sealed(prefix, "".join(answer.thinking))
        thought = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": seal, "status": None}
        item(thought, *(("response.reasoning_summary_text.delta", text) for text in answer.thinking))
    if answer.texts:
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ""}]}
        item(said, *(("response.output_text.delta", text) for text in answer.texts))
    for call in answer.calls:
        if call.computer is not None:
            held: Json = {"id": f"cu_{call.id}", "call_id": call.id, "status": "completed", "pending_safety_checks": []}
            item({"type": "computer_call", **held, **call.computer})
            continue
        if call.is_search:
            search: Json = {"type": "tool_search_call", "call_id": call.id, "execution": "client"}
            item({**search, "status": "completed", "arguments": json.loads(call.arguments)})
            continue
        called = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        item(called, *(("response.function_call_arguments.delta", piece) for piece in _halves(call)))
    if answer.fault is not None:
        return [*frames, _event("response.failed", response={"status": "failed", "error": answer.fault})]
    return [*frames, _finished(answer)]


def _finished(answer: Answer) -> bytes:
    response: Json = {"id": "resp_1", "status": "completed", "usage": None}
    if answer.usage is not None:
        read, cached, written = answer.usage
        details = {"input_tokens_details": {"cached_tokens": cached}, "output_tokens_details": {"reasoning_tokens": 0}}
        response["usage"] = {"input_tokens": read, "output_tokens": written, **details}
    reasons = {"length": "max_output_tokens", "refusal": "content_filter"}
    if answer.ending in ("length", "refusal", ""):
        why = {"reason": reasons[answer.ending]} if answer.ending else None
        response = {**response, "status": "incomplete", "incomplete_details": why}
    return _event(f"response.{response['status']}", response=response)


_FORMS: dict[Form, Callable[[Answer, Sequence[Block]], list[bytes]]] = {
    "chat": _chat,
    "messages": _messages,
    "responses": _responses,
}
