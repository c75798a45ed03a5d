"""What providers refuse of their searches for tools.

Sources: Anthropic's documentation of its tool search tool; OpenAI's guide on tool search, and the types of both SDKs.
"""

from __future__ import annotations

from typing import Any, cast

from support.refusals import refuse_if

Json = dict[str, Any]


def check_references(body: Json) -> None:
    """Anthropic's: each tool that is referred to is among the tools, of which not all are deferred."""
    tools: list[Json] = body.get("tools") or []
    refuse_if(bool(tools) and all(tool.get("defer_loading") for tool in tools), "All tools have defer_loading set.")
    names = {tool.get("name") for tool in tools}
    for message in body["messages"]:
        for block in message["content"]:
            content = block.get("content") if block["type"] == "tool_result" else None
            for part in cast("list[Json]", content) if isinstance(content, list) else ():
                if part["type"] == "tool_reference":
                    name = part["tool_name"]
                    refuse_if(name not in names, f"Tool reference '{name}' not found in available tools")
                    refuse_if(set(part) - {"type", "tool_name", "cache_control"}, "tool_reference: extra fields")


def check_search(item: Json, body: Json) -> None:
    """OpenAI's: a call of the search that the request declares."""
    declared = [tool for tool in body.get("tools") or () if tool.get("type") == "tool_search"]
    refuse_if(len(declared) != 1, "a tool_search_call needs the tool_search tool")
    (tool,) = declared
    refuse_if(set(tool) != {"type", "execution", "description", "parameters"}, f"tools: tool_search: {sorted(tool)}")
    refuse_if(tool["execution"] != item["execution"], "tool_search_call.execution is another one than declared")
    refuse_if(not isinstance(item["arguments"], dict), "tool_search_call.arguments: an object")
    refuse_if(item["status"] not in ("in_progress", "completed", "incomplete"), "tool_search_call.status")


def check_found(item: Json) -> None:
    """OpenAI's: what a search of the caller's answers."""
    known = {"type", "id", "call_id", "execution", "status", "tools"}
    refuse_if(set(item) - known, f"Unknown parameter: tool_search_output.{sorted(set(item) - known)}")
    for tool in item["tools"]:
        refuse_if(tool["type"] != "function" or not tool["name"], "tool_search_output.tools: functions alone")
