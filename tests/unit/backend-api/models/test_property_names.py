"""Names of arguments that a provider refuses are told under others, and calls come back under their own."""

from __future__ import annotations

import json
import re
import time
from typing import Any

from backend_api.agent.model import ToolCallPart, ToolRequest
from backend_api.agent.tool import ToolSpec
from backend_api.models.anthropic.computer_tool import written
from backend_api.models.wire.property_names import PropertyNames

TAKEN = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def tool(parameters: dict[str, Any]) -> ToolSpec:
    return ToolSpec(name="query", description="", parameters=parameters, phrase="", effect="reads", deadline_ms=1)


def call(**arguments: Any) -> ToolCallPart:
    return ToolCallPart(ToolRequest(call_id="c", name="query", arguments=arguments, raw=json.dumps(arguments)))


ODATA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "$filter": {"type": "string"},
        "_filter": {"type": "string"},
        "$orderby": {"type": "array", "items": {"$ref": "#/$defs/Order"}},
        "x" * 80: {"type": "string"},
        "where": {"anyOf": [{"type": "object", "properties": {"a b": {}}, "required": ["a b"]}, {"type": "null"}]},
        "same": {"$ref": "#/properties/$filter"},
    },
    "required": ["$filter", "where"],
    "dependentRequired": {"$filter": ["$orderby"]},
    "$defs": {"Order": {"type": "object", "properties": {"$by": {"enum": ["$by"]}}, "default": {"$by": 1}}},
}


def names_in(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [*schema.get("properties", {})]
        return own + [name for below in schema.values() for name in names_in(below)]
    return [name for below in schema for name in names_in(below)] if isinstance(schema, list) else []


def test_every_name_is_one_that_the_provider_takes_and_all_that_name_it_do_so_alike() -> None:
    [declared] = PropertyNames([tool(ODATA)]).tools
    assert all(map(TAKEN.fullmatch, names_in(declared.parameters)))
    properties = declared.parameters["properties"]
    assert len(properties) == len(ODATA["properties"])
    [of_filter] = [name for name in properties if name.startswith("_filter_")]
    [of_order] = [name for name in properties if name.startswith("_orderby_")]
    assert declared.parameters["required"] == [of_filter, "where"]
    assert declared.parameters["dependentRequired"] == {of_filter: [of_order]}
    assert properties["same"] == {"$ref": f"#/properties/{of_filter}"}
    where = properties["where"]["anyOf"][0]
    assert where["required"] == [*where["properties"]]
    assert [*declared.parameters["$defs"]["Order"]["properties"].values()] == [{"enum": ["$by"]}]


def test_a_call_has_the_tools_own_names_at_every_depth_and_the_model_reads_what_it_wrote() -> None:
    names = PropertyNames([tool(ODATA)])
    declared = names.tools[0].parameters
    of_filter, of_order = declared["required"][0], declared["dependentRequired"][declared["required"][0]][0]
    [of_by] = declared["$defs"]["Order"]["properties"]
    [of_blank] = declared["properties"]["where"]["anyOf"][0]["properties"]
    given = {of_filter: "a", "_filter": "b", of_order: [{of_by: "$by"}], "where": {of_blank: 1}, "other": 2}
    part = names.restored(call(**given))
    assert part.request.arguments == {
        "$filter": "a",
        "_filter": "b",
        "$orderby": [{"$by": "$by"}],
        "where": {"a b": 1},
        "other": 2,
    }
    assert json.loads(part.request.raw) == part.request.arguments
    assert written(part.request, None)["input"] == given


def test_what_the_provider_takes_as_it_is_stays_the_same() -> None:
    plain = tool({"type": "object", "properties": {"a.b-c_D9": {}}})
    names = PropertyNames([plain])
    part = call(**{"a.b-c_D9": 1})
    assert names.tools == [plain]
    assert names.restored(part) is part


def test_what_is_given_under_names_of_its_own_keeps_them() -> None:
    names = PropertyNames([tool({"type": "object", "properties": {"$a": {}, "data": {"type": "object"}}})])
    assert names.restored(call(data={"_a": 1, "a": 2})).request.arguments == {"data": {"_a": 1, "a": 2}}


def test_no_two_names_are_told_alike() -> None:
    [alias] = [*PropertyNames([tool({"properties": {"$a": {}}})]).tools[0].parameters["properties"]]
    [declared] = PropertyNames([tool({"properties": {"$a": {}, alias: {}, "€a": {}}})]).tools
    assert len(declared.parameters["properties"]) == 3


def test_very_many_names_take_no_long_look() -> None:
    began = time.process_time()
    [declared] = PropertyNames([tool({"properties": {f"${number}": {} for number in range(50_000)}})]).tools
    assert len(declared.parameters["properties"]) == 50_000
    assert time.process_time() - began < 20
