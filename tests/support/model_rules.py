"""What providers refuse, each in its own wire format: the reason in words, or None where a request is taken.

Sources: OpenAI's references of chat completions and responses; Anthropic's of messages, tool use and extended thinking;
DeepSeek's guide on its thinking mode.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from anthropic.types.computer_member_name import COMPUTER_MEMBER_NAME_VALUES

from support.model_seals import Form, blocks_of, parts_of, sealed

Json = dict[str, Any]
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SPLITS = frozenset({"thinking", "redacted_thinking", "reasoning"})


class RefusedError(Exception):
    """A request that the provider does not take."""


TOOLSET = "computer_toolset_20260801"
MEMBERS = frozenset[str](COMPUTER_MEMBER_NAME_VALUES)


def refusal_of(form: Form, body: Json) -> str | None:
    """Why a provider of this wire format refuses the request."""
    try:
        _check_names(body.get("tools") or [])
        _RULES[form](body)
    except RefusedError as refused:
        return str(refused)
    return None


def _refuse_if(is_wrong: object, reason: str) -> None:
    if is_wrong:
        raise RefusedError(reason)


def _check_names(tools: Sequence[Json]) -> None:
    names = [tool.get("function", tool)["name"] for tool in tools if tool.get("type") != TOOLSET]
    for name in names:
        _check_name(name)
    _refuse_if(len(set(names)) < len(names), "tools: names must be unique")


def _check_name(name: str) -> None:
    _refuse_if(NAME.fullmatch(name) is None, f"tool name {name[:80]!r} does not match {NAME.pattern}")


def _check_call(identifier: str, name: str, arguments: object) -> None:
    _check_name(name)
    _refuse_if(not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", identifier), f"bad id of a call: {identifier!r}")
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        value = None
    _refuse_if(not isinstance(value, dict), f"arguments of {identifier} are not a JSON object")


def _check_answered(called: Iterable[str], answered: Iterable[str]) -> None:
    wanted, found = list(called), list(answered)
    _refuse_if(len(set(wanted)) < len(wanted), f"ids of calls are not unique: {wanted}")
    _refuse_if(wanted != found, f"calls {wanted} must be followed by their results, in order; found {found}")


def _is_blank(content: Any) -> bool:
    """Whether a turn's content says nothing; a list also where one of its texts is blank."""
    if isinstance(content, str):
        return not content.strip()
    return not content or any("text" in part and not part["text"].strip() for part in content)


def _asked(body: Json) -> str:
    """What it says of thinking."""
    thinking: Json = body.get("thinking") or {}
    return thinking.get("type", "")


def _chat(body: Json) -> None:
    messages: list[Json] = body["messages"]
    _refuse_if(len(messages) < 2, "messages: too few")
    wants_reasoning = "deepseek" in body["model"] and _asked(body) != "disabled"
    blocks = blocks_of("chat", body)
    for index, message in enumerate(messages):
        match message["role"]:
            case "system" | "developer":
                _refuse_if(index, f"messages[{index}]: a system message must be the first")
            case "user":
                _refuse_if(_is_blank(message["content"]), f"messages[{index}]: an empty user message")
            case "assistant":
                _check_chat_turn(messages, index, wants_reasoning=wants_reasoning)
                for detail in message.get("reasoning_details") or ():
                    _check_seal(detail["data"], blocks[: index + 1], "")
            case "tool":
                before = messages[index - 1]
                _refuse_if(
                    before["role"] != "tool" and not before.get("tool_calls"),
                    f"messages[{index}]: a result must follow its call",
                )
            case role:
                raise RefusedError(f"messages[{index}]: there is no role {role}")
    _refuse_if(messages[-1]["role"] == "assistant", "the last message is the assistant's")


def _check_chat_turn(messages: list[Json], index: int, *, wants_reasoning: bool) -> None:
    message = messages[index]
    calls: list[Json] = message.get("tool_calls") or []
    _refuse_if(_is_blank(message.get("content") or "") and not calls, f"messages[{index}]: an empty assistant message")
    for call in calls:
        _check_call(call["id"], call["function"]["name"], call["function"]["arguments"])
    results: list[str] = []
    for following in messages[index + 1 :]:
        if following["role"] != "tool":
            break
        results.append(following["tool_call_id"])
    _check_answered([call["id"] for call in calls], results)
    _refuse_if(
        wants_reasoning and calls and not isinstance(message.get("reasoning_content"), str),
        "The reasoning_content in the thinking mode must be passed back to the API.",
    )


def _messages(body: Json) -> None:
    messages: list[Json] = body["messages"]
    _refuse_if(not messages or messages[0]["role"] != "user", "messages: the first must be the user's")
    called: list[str] = []
    members = _check_toolset(body)
    for index, message in enumerate(messages):
        role, content = message["role"], message["content"]
        _refuse_if(role not in ("user", "assistant"), f"messages.{index}: there is no role {role}")
        _refuse_if(_is_blank(content), f"messages.{index}: content must not be empty")
        kinds = [block["type"] for block in content]
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        _refuse_if(any(kind == "tool_result" for kind in kinds[len(results) :]), "results must come first in a turn")
        _check_answered(called, results)
        called = _check_uses(content, members) if role == "assistant" else []
        for block in content:
            _check_result(block)
    _refuse_if(messages[-1]["role"] != "user", "messages: the last must be the user's")
    _check_begun_with_thinking(body)
    _check_thinking(body)


def _check_toolset(body: Json) -> frozenset[str]:
    """The members that a model may be shown to have called."""
    entries = [tool for tool in body.get("tools") or () if tool.get("type") == TOOLSET]
    if not entries:
        return frozenset()
    _refuse_if(len(entries) > 1, "tools: a toolset is declared once")
    (entry,) = entries
    _refuse_if(set(entry) - {"type", "configs", "cache_control"}, f"tools: {TOOLSET} takes no other field")
    configs: Json = entry.get("configs") or {}
    _refuse_if(set(configs) - MEMBERS, f"tools: {TOOLSET} has no such member: {sorted(set(configs) - MEMBERS)}")
    return MEMBERS


def _check_uses(content: list[Json], members: frozenset[str]) -> list[str]:
    uses = [block for block in content if block["type"] == "tool_use"]
    for use in uses:
        _check_call(use["id"], use["name"], use["input"])
        if "toolset_name" in use:
            _refuse_if(use["toolset_name"] != "computer", f"there is no toolset {use['toolset_name']}")
            _refuse_if(use["name"] not in members, f"{use['name']} is no member of a toolset that is declared")
    _refuse_if(content[-1]["type"] in SPLITS, "the last block of an assistant's turn can't be thinking")
    return [use["id"] for use in uses]


def _check_result(block: Json) -> None:
    if block["type"] == "tool_result":
        inner = block["content"]
        _refuse_if(isinstance(inner, list) and _is_blank(inner), "text blocks must not be blank")
        _refuse_if(isinstance(inner, list) and block.get("is_error"), "a result that is an error has text alone")


def _check_begun_with_thinking(body: Json) -> None:
    if _asked(body) != "enabled":
        return
    last = next((message for message in reversed(body["messages"]) if message["role"] == "assistant"), None)
    kinds = [block["type"] for block in last["content"]] if last else []
    _refuse_if("tool_use" in kinds and kinds[0] not in SPLITS, "a turn with tool use must begin with thinking")


def _check_thinking(body: Json) -> None:
    blocks = blocks_of("messages", body)
    for index, (_, block) in enumerate(parts_of("messages", body)):
        if block["type"] == "thinking":
            _check_seal(block["signature"], blocks[: index + 1], block["thinking"])
        elif block["type"] == "redacted_thinking":
            _check_seal(block["data"], blocks[: index + 1], "")


def _check_seal(seal: str, prefix: Sequence[str], text: str) -> None:
    _refuse_if(seal != sealed(prefix, text), "Invalid signature in thinking: it, or what stands before it, was changed")


def _responses(body: Json) -> None:
    items: list[Json] = body["input"]
    _refuse_if(not items, "input: empty")
    _refuse_if(body.get("store") is not False, "store must be false here")
    _refuse_if(body.get("max_output_tokens", 16) < 16, "max_output_tokens: below 16")
    blocks = blocks_of("responses", body)
    called: list[str] = []
    answered: list[str] = []
    for index, item in enumerate(items):
        kind = item["type"]
        if kind != "function_call_output" and (answered or kind != "function_call"):
            _check_answered(called, answered)
            called, answered = [], []
        match kind:
            case "function_call":
                _check_call(item["call_id"], item["name"], item["arguments"])
                called.append(item["call_id"])
            case "function_call_output":
                answered.append(item["call_id"])
            case "reasoning":
                _check_reasoning(items, index, blocks)
            case "message":
                _refuse_if(item["role"] not in ("user", "assistant"), f"input[{index}]: role {item['role']}")
                _refuse_if(_is_blank(item["content"]), f"input[{index}]: an empty message")
            case _:
                raise RefusedError(f"input[{index}]: there is no type {kind}")
    _check_answered(called, answered)
    _refuse_if(items[-1].get("role") == "assistant", "the last item is the assistant's")


def _check_reasoning(items: list[Json], index: int, blocks: Sequence[str]) -> None:
    item = items[index]
    following = items[index + 1] if index + 1 < len(items) else {}
    is_followed = following.get("role") == "assistant" or following.get("type") in ("function_call", "reasoning")
    _refuse_if(not is_followed, f"input[{index}]: reasoning was provided without its required following item")
    _refuse_if(not item.get("encrypted_content"), f"input[{index}]: no such item, as items are not stored")
    _refuse_if("status" in item and item["status"] is None, f"input[{index}].status: not a status")
    text = "".join(part["text"] for part in item["summary"])
    _check_seal(item["encrypted_content"], blocks[: index + 1], text)


_RULES: dict[Form, Callable[[Json], None]] = {"chat": _chat, "messages": _messages, "responses": _responses}
