"""`load_tools` as the client-executed tool search of OpenAI's Responses API.

Its results can only be definitions: any words of `load_tools`, such as that there is no such family, follow as a
message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend_api.agent.model import NoteTurn, ToolCallPart, ToolRequest, ToolTurn
from backend_api.agent.tool_families import LOAD_TOOL
from backend_api.models.wire.extra_fields import extra_json, extra_of, fields_beyond, text_of
from backend_api.models.wire.faults import as_object
from backend_api.models.wire.tool_calls import arguments_of, arguments_text, call_part
from backend_api.models.wire.turns import note_text, result_text

CALL_ITEM = "tool_search_call"
_CALL_FIELDS = frozenset({"type", "id", "call_id", "execution", "arguments", "status", "created_by"})
Json = dict[str, Any]


def declared_search(tools: Sequence[Json], *, may_search: bool) -> list[Json]:
    """The tools of a request, with the tool search in place of `load_tools` if the model `may_search`."""
    return [_search(tool) if may_search and tool.get("name") == LOAD_TOOL else tool for tool in tools]


def _search(tool: Json) -> Json:
    return {
        "type": "tool_search",
        "execution": "client",
        "description": tool["description"],
        "parameters": tool["parameters"],
    }


def searched(item: Json, model: str) -> ToolCallPart:
    """The call of `load_tools` that an item stands for."""
    given = item.get("arguments")
    raw = given if isinstance(given, str) else arguments_text(given) if given else ""
    added = fields_beyond(item, _CALL_FIELDS)
    opaque = extra_json("responses", model, call=added) if added else None
    return call_part(text_of(item.get("call_id")), LOAD_TOOL, raw, arguments_of(raw), opaque=opaque)


def search_call(call: ToolRequest, model: str) -> Json:
    """A call of `load_tools` as an item of the conversation."""
    item = {
        "type": CALL_ITEM,
        "call_id": call.call_id,
        "execution": "client",
        "status": "completed",
        "arguments": call.arguments or {},
    }
    return item | as_object(extra_of(call.opaque, "responses", model).get("call"))


def search_results(turn: ToolTurn, functions: Sequence[Json]) -> list[Json]:
    """The items for its result; `functions` are the tools it defines."""
    found: Json = {
        "type": "tool_search_output",
        "call_id": turn.call_id,
        "execution": "client",
        "status": "completed",
        "tools": [function | {"defer_loading": True} for function in functions],
    }
    if functions:
        return [found]
    said = note_text(NoteTurn(text=result_text(turn, None)))
    return [found, {"type": "message", "role": "user", "content": said}]
