"""Tool calls that a model wrote into its text, as its server did not parse them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, cast

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_MARKS = re.compile(
    r"""^[ \t]*(?:
        <\|?tool_calls?\|?>\s*(?:[{\[<]|[\w.:-]+[ ]*[\n<{(])
        | \[TOOL_CALLS\]\s*[\w{\[]
        | <function=\w
        | <function_calls?>\s*[{\[<]
        | <invoke\ name=
        | <\w+:tool_call>
        | <｜tool▁calls?▁begin｜>
        | <\|tool_calls?(?:_section)?_begin\|>
        | <\|python_tag\|>
        | <\|action_start\|>
        | <\|start\|>assistant(?:<\|channel\|>\w+)?\ to=
        | <\|channel\|>\w+\ to=
        | <\|tool_call_start\|>\s*\[
        | functools\[\s*\{
    )""",
    re.MULTILINE | re.VERBOSE,
)
"""Marks of the templates of Qwen, Hermes, GLM, Mistral, Llama, MiniMax, DeepSeek, Kimi, InternLM, gpt-oss, LFM and
Phi."""
_NAMED = re.compile(
    r"""(?<![`'"“])<tool_call>\s*\{\s*"name"\s*:\s*"([\w.:-]{1,200})"
    | ^[ \t]*```[ ]?tool_code[ \t]*\n\s*(?:print\()?(?:default_api\.)?(\w{1,200})\(""",
    re.MULTILINE | re.VERBOSE,
)
"""A call in the middle of a line, or in the fence in which Gemma writes it; it counts if it names a tool on offer."""
_LOOKED_AT = 100_000
_FENCE = "```"
_LANGUAGES = frozenset({"", "json", "tool_call", "tool_code"})


def has_call_in_text(text: str, tools: Collection[str]) -> bool:
    """Whether a text has a call of one of these tools, or of any in a form that only templates have, outside of what it
    quotes."""
    if not tools or not text.strip() or len(text) > _LOOKED_AT:
        return False
    said = _FENCED.sub("", text)
    return _MARKS.search(said) is not None or _is_bare_call(text, tools) or _is_named(said, text, tools)


def _is_named(said: str, text: str, tools: Collection[str]) -> bool:
    """Whether a call names one of these tools: in the text `said` outside of fences, or in a fence for calls."""
    in_line = any(found[1] in tools for found in _NAMED.finditer(said))
    return in_line or any(found[2] in tools for found in _NAMED.finditer(text))


def _is_bare_call(text: str, tools: Collection[str]) -> bool:
    """Whether the whole text is the JSON of a call, as Llama writes it."""
    said = _without_fence(text.strip())
    if not said.startswith(("{", "[")):
        return False
    try:
        value: object = json.loads(said)
    except (ValueError, RecursionError):
        return False
    if isinstance(value, dict):
        value = cast("dict[str, object]", value).get("tool_calls", cast("object", value))
    calls = cast("list[object]", value) if isinstance(value, list) else [value]
    return bool(calls) and all(_is_call(call, tools) for call in calls)


def _without_fence(text: str) -> str:
    """The text between fences, if they enclose all of it."""
    if not text.startswith(_FENCE) or not text.endswith("\n" + _FENCE):
        return text
    language, _, inside = text.removeprefix(_FENCE).removesuffix(_FENCE).partition("\n")
    return inside.strip() if language.strip() in _LANGUAGES else text


def _is_call(value: object, tools: Collection[str]) -> bool:
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if isinstance(fields.get("function"), dict):
        fields = cast("dict[str, Any]", fields["function"])
    given = fields.get("arguments", fields.get("parameters"))
    return fields.get("name") in tools and isinstance(given, (dict, str))
