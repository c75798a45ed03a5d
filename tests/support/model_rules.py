"""What providers refuse, each in its own wire format: the reason in words, or None where a request is taken.

Sources: OpenAI's references of chat completions and responses; Anthropic's of messages, tool use and extended thinking;
DeepSeek's guide on its thinking mode.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from support.computer_rules import (
    NAMELESS,
    check_anthropic,
    check_computer_call,
    check_computer_output,
    check_openai_tools,
    toolset_members,
)
from support.model_seals import Form, blocks_of, parts_of, sealed
from support.refusals import RefusedError, refuse_if
from support.tool_search_rules import check_found, check_references, check_search

Json = dict[str, Any]
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CALLS = frozenset({"function_call", "computer_call", "tool_search_call"})
OUTPUTS = frozenset({"function_call_output", "computer_call_output", "tool_search_output"})
SPLITS = frozenset({"thinking", "redacted_thinking", "reasoning"})


def refusal_of(form: Form, body: Json, headers: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """Why a provider of this wire format refuses the request."""
    try:
        _check_names(body.get("tools") or [])
        if form == "messages":
            check_anthropic(body, headers)
        _RULES[form](body)
    except RefusedError as refused:
        return str(refused)
    return None


def _check_names(tools: Sequence[Json]) -> None:
    names = [tool.get("function", tool)["name"] for tool in tools if tool.get("type") not in NAMELESS]
    for name in names:
        _check_name(name)
    refuse_if(len(set(names)) < len(names), "tools: names must be unique")


def _check_name(name: str) -> None:
    refuse_if(NAME.fullmatch(name) is None, f"tool name {name[:80]!r} does not match {NAME.pattern}")


def _check_call(identifier: str, name: str, arguments: object) -> None:
    _check_name(name)
    refuse_if(not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", identifier), f"bad id of a call: {identifier!r}")
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        value = None
    refuse_if(not isinstance(value, dict), f"arguments of {identifier} are not a JSON object")


def _check_answered(called: Iterable[str], answered: Iterable[str]) -> None:
    wanted, found = list(called), list(answered)
    refuse_if(len(set(wanted)) < len(wanted), f"ids of calls are not unique: {wanted}")
    refuse_if(wanted != found, f"calls {wanted} must be followed by their results, in order; found {found}")


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
    refuse_if(len(messages) < 2, "messages: too few")
    wants_reasoning = "deepseek" in body["model"] and _asked(body) != "disabled"
    blocks = blocks_of("chat", body)
    for index, message in enumerate(messages):
        match message["role"]:
            case "system" | "developer":
                refuse_if(index, f"messages[{index}]: a system message must be the first")
            case "user":
                refuse_if(_is_blank(message["content"]), f"messages[{index}]: an empty user message")
            case "assistant":
                _check_chat_turn(messages, index, wants_reasoning=wants_reasoning)
                for detail in message.get("reasoning_details") or ():
                    _check_seal(detail["data"], blocks[: index + 1], "")
            case "tool":
                before = messages[index - 1]
                refuse_if(
                    before["role"] != "tool" and not before.get("tool_calls"),
                    f"messages[{index}]: a result must follow its call",
                )
            case role:
                raise RefusedError(f"messages[{index}]: there is no role {role}")
    refuse_if(messages[-1]["role"] == "assistant", "the last message is the assistant's")


def _check_chat_turn(messages: list[Json], index: int, *, wants_reasoning: bool) -> None:
    message = messages[index]
    calls: list[Json] = message.get("tool_calls") or []
    refuse_if(_is_blank(message.get("content") or "") and not calls, f"messages[{index}]: an empty assistant message")
    for call in calls:
        _check_call(call["id"], call["function"]["name"], call["function"]["arguments"])
    results: list[str] = []
    for following in messages[index + 1 :]:
        if following["role"] != "tool":
            break
        results.append(following["tool_call_id"])
    _check_answered([call["id"] for call in calls], results)
    refuse_if(
        wants_reasoning and calls and not isinstance(message.get("reasoning_content"), str),
        "The reasoning_content in the thinking mode must be passed back to the API.",
    )


def _messages(body: Json) -> None:
    messages: list[Json] = body["messages"]
    refuse_if(not messages or messages[0]["role"] != "user", "messages: the first must be the user's")
    called: list[str] = []
    members = toolset_members(body)
    for index, message in enumerate(messages):
        role, content = message["role"], message["content"]
        refuse_if(role not in ("user", "assistant"), f"messages.{index}: there is no role {role}")
        refuse_if(_is_blank(content), f"messages.{index}: content must not be empty")
        kinds = [block["type"] for block in content]
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        refuse_if(any(kind == "tool_result" for kind in kinds[len(results) :]), "results must come first in a turn")
        _check_answered(called, results)
        called = _check_uses(content, members) if role == "assistant" else []
        for block in content:
            _check_result(block)
    check_references(body)
    refuse_if(messages[-1]["role"] != "user", "messages: the last must be the user's")
    _check_begun_with_thinking(body)
    _check_thinking(body)


def _check_uses(content: list[Json], members: frozenset[str]) -> list[str]:
    uses = [block for block in content if block["type"] == "tool_use"]
    for use in uses:
        _check_call(use["id"], use["name"], use["input"])
        if "toolset_name" in use:
            refuse_if(use["toolset_name"] != "computer", f"there is no toolset {use['toolset_name']}")
            refuse_if(use["name"] not in members, f"{use['name']} is no member of a toolset that is declared")
    refuse_if(content[-1]["type"] in SPLITS, "the last block of an assistant's turn can't be thinking")
    return [use["id"] for use in uses]


def _check_result(block: Json) -> None:
    if block["type"] == "tool_result":
        inner = block["content"]
        refuse_if(isinstance(inner, list) and _is_blank(inner), "text blocks must not be blank")
        refuse_if(isinstance(inner, list) and block.get("is_error"), "a result that is an error has text alone")


def _check_begun_with_thinking(body: Json) -> None:
    if _asked(body) != "enabled":
        return
    last = next((message for message in reversed(body["messages"]) if message["role"] == "assistant"), None)
    kinds = [block["type"] for block in last["content"]] if last else []
    refuse_if("tool_use" in kinds and kinds[0] not in SPLITS, "a turn with tool use must begin with thinking")


def _check_thinking(body: Json) -> None:
    blocks = blocks_of("messages", body)
    for index, (_, block) in enumerate(parts_of("messages", body)):
        if block["type"] == "thinking":
            _check_seal(block["signature"], blocks[: index + 1], block["thinking"])
        elif block["type"] == "redacted_thinking":
            _check_seal(block["data"], blocks[: index + 1], "")


def _check_seal(seal: str, prefix: Sequence[str], text: str) -> None:
    refuse_if(seal != sealed(prefix, text), "Invalid signature in thinking: it, or what stands before it, was changed")


def _responses(body: Json) -> None:
    items: list[Json] = body["input"]
    refuse_if(not items, "input: empty")
    refuse_if(body.get("store") is not False, "store must be false here")
    refuse_if(body.get("max_output_tokens", 16) < 16, "max_output_tokens: below 16")
    blocks = blocks_of("responses", body)
    computer = check_openai_tools(body)
    called: list[str] = []
    answered: list[str] = []
    held: dict[str, Json] = {}
    for index, item in enumerate(items):
        kind = item["type"]
        if kind not in OUTPUTS and (answered or kind not in CALLS):
            _check_answered(called, answered)
            called, answered = [], []
        match kind:
            case "function_call":
                _check_call(item["call_id"], item["name"], item["arguments"])
                called.append(item["call_id"])
            case "function_call_output":
                refuse_if(item["call_id"] in held, f"input[{index}]: a computer_call is answered by a screenshot")
                answered.append(item["call_id"])
            case "computer_call":
                check_computer_call(item, computer)
                called.append(item["call_id"])
                held[item["call_id"]] = item
            case "computer_call_output":
                check_computer_output(item, held.get(item["call_id"]))
                answered.append(item["call_id"])
            case "tool_search_call":
                check_search(item, body)
                called.append(item["call_id"])
            case "tool_search_output":
                check_found(item)
                answered.append(item["call_id"])
            case "reasoning":
                _check_reasoning(items, index, blocks)
            case "message":
                refuse_if(item["role"] not in ("user", "assistant"), f"input[{index}]: role {item['role']}")
                refuse_if(_is_blank(item["content"]), f"input[{index}]: an empty message")
            case _:
                raise RefusedError(f"input[{index}]: there is no type {kind}")
    _check_answered(called, answered)
    refuse_if(items[-1].get("role") == "assistant", "the last item is the assistant's")


def _check_reasoning(items: list[Json], index: int, blocks: Sequence[str]) -> None:
    item = items[index]
    following = items[index + 1] if index + 1 < len(items) else {}
    is_followed = following.get("role") == "assistant" or following.get("type") in (*CALLS, "reasoning")
    refuse_if(not is_followed, f"input[{index}]: reasoning was provided without its required following item")
    refuse_if(not item.get("encrypted_content"), f"input[{index}]: no such item, as items are not stored")
    refuse_if("status" in item and item["status"] is None, f"input[{index}].status: not a status")
    text = "".join(part["text"] for part in item["summary"])
    _check_seal(item["encrypted_content"], blocks[: index + 1], text)


_RULES: dict[Form, Callable[[Json], None]] = {"chat": _chat, "messages": _messages, "responses": _responses}
