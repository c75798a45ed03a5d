"""What a server says of its tools: what every provider takes, and no more of it than is good."""

from __future__ import annotations

import time
from typing import Any

import pytest

from backend_api.kit.masking import Mask
from backend_api.mcp.client.listing import ListedTool, listing_of
from backend_api.mcp.domain.entity import MAX_TOOLS, Listing, McpServer, room_in, within_bound
from backend_api.mcp.domain.stored_listing import from_body, to_body

BOX = McpServer(name="box", transport="http", url="https://x.example.org")
PLAIN = {"type": "object"}


def taken(*listed: ListedTool, server: McpServer = BOX, secrets: tuple[str, ...] = ()) -> Listing:
    return listing_of(server, listed, Mask(secrets))


def of_schema(schema: Any) -> Listing:
    return taken(ListedTool("a", "A.", schema))


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return {"type": "object", "properties": {"x": schema}}


def pointed(characters: int, times: int = 1) -> dict[str, Any]:
    """One that is pointed to by a name of so many characters, each written as three."""
    pointer = "#/$defs/b/default/" + "%41" * characters
    properties = {f"p{number}": {"$ref": "#/$defs/a"} for number in range(times)}
    definitions: dict[str, Any] = {"a": {"$ref": pointer}, "b": {"default": {"A" * characters: {}}}}
    return {"type": "object", "properties": properties, "$defs": definitions}


GOOD: list[dict[str, Any]] = [
    {},
    PLAIN,
    {"type": "object", "properties": {"a": {"type": ["string", "null"], "enum": ["x", None]}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/B"}]}}, "$defs": {"B": {}}},
    {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"type": "object", "properties": {"below": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}},
    },
    {"type": "object", "properties": {"a": True}, "additionalProperties": False},
    {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 0.5, "description": "How many."},
            "b": {"type": "string", "pattern": r"^\(?\d{3}\)?(?:-\d+)*$", "minLength": 1, "format": "phone"},
            "c": {"type": "array", "uniqueItems": True, "maxItems": 3, "items": {"enum": ["x"]}},
            "d": {"type": "object", "patternProperties": {"^x-": {}}, "dependentRequired": {"x-a": ["x-b"]}},
        },
    },
    nested(15),
    {"type": "object", "properties": {"$filter": {"type": "string"}, "$top": {"type": "integer"}, "$top.x": {}}},
    {"type": "object", "properties": {"a b": PLAIN, "x" * 65: PLAIN, "odata.$skip": PLAIN}, "required": ["a b"]},
    {"type": "object", "properties": {"a": {"description": "x" * 60_000}}},
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {}}},
    {"type": "object", "properties": {"a": {"items": {}}, "b": {"$ref": "#/properties/a/items"}}},
    {"type": "object", "properties": {"a": {"anyOf": [PLAIN, {"$ref": "#/properties/a/anyOf/0"}]}}},
    {"type": "object", "properties": {"below": {"$ref": "#"}}},
    pointed(200),
]
BAD: list[dict[str, Any]] = [
    {"type": "array"},
    {"type": "object", "properties": []},
    {"type": "object", "properties": {"": PLAIN}},
    {"type": "object", "properties": {"a\nb": PLAIN}},
    {"type": "object", "properties": {"a\u200bb": PLAIN}},
    {"type": "object", "properties": {"x" * 201: PLAIN}},
    {"type": "object", "properties": {"a": {"type": "text"}}},
    {"type": "object", "properties": {"a": {"type": 7}}},
    {"type": "object", "properties": {"a": "string"}},
    {"type": "object", "required": "a"},
    {"type": "object", "required": [1]},
    {"type": "object", "properties": {"a": {"enum": "x"}}},
    {"type": "object", "properties": {"a": {"$ref": "https://evil.example.org/schema"}}},
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}},
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}},
    {"type": "object", "properties": {"a": {"anyOf": [PLAIN, {"$ref": "#/properties/a/anyOf/2"}]}}},
    {"type": "object", "properties": {"a": {"anyOf": [PLAIN, {"$ref": "#/properties/a/anyOf/x"}]}}},
    pointed(1_000),
    {"type": "object", "properties": {"a": {"pattern": "("}}},
    {"type": "object", "properties": {"a": {"pattern": 7}}},
    {"type": "object", "properties": {"a": {"anyOf": []}}},
    {"type": "object", "properties": {"a": {"minimum": "1"}}},
    {"type": "object", "properties": {"a": {"description": "x" * 450_000}}},
    {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
    },
    {"type": "object", "properties": {"a": {"maximum": float("inf")}}},
    {"type": "object", "properties": {"a": {"pattern": "(?i)x"}}},
    {"type": "object", "properties": {"a": {"patternProperties": {"(": {}}}}},
    {"type": "object", "properties": {"a": {"exclusiveMinimum": True}}},
    {"type": "object", "properties": {"a": {"multipleOf": 0}}},
    {"type": "object", "properties": {"a": {"minLength": -1}}},
    {"type": "object", "properties": {"a": {"maxItems": 1.5}}},
    {"type": "object", "properties": {"a": {"enum": []}}},
    {"type": "object", "properties": {"a": {"type": []}}},
    {"type": "object", "properties": {"a": {"type": ["string", "string"]}}},
    {"type": "object", "properties": {"a": {}}, "required": ["a", "a"]},
    {"type": "object", "properties": {"a": {"title": 5}}},
    {"type": "object", "properties": {"a": {"description": {}}}},
    {"type": "object", "properties": {"a": {"format": []}}},
    {"type": "object", "properties": {"a": {"uniqueItems": "yes"}}},
    {"type": "object", "properties": {"a": {"dependentSchemas": 5}}},
    {"type": "object", "properties": {"a": {"dependentRequired": {"b": "c"}}}},
    {"type": "object", "properties": {"a": {"$schema": "http://json-schema.org/draft-04/schema#"}}},
    {"type": "object", "properties": {"a": {"$id": "https://evil.example.org/"}}},
    {"type": "object", "properties": {"a": {"$dynamicRef": "#a"}}},
    {"type": "object", "properties": {"a": {"unevaluatedProperties": {"type": "text"}}}},
    nested(50),
    nested(5_000),
]


@pytest.mark.parametrize("schema", GOOD, ids=range(len(GOOD)))
def test_a_schema_that_providers_take_is_kept(schema: dict[str, Any]) -> None:
    [tool] = of_schema(schema).tools
    assert tool.parameters == {"type": "object", "properties": {}, **schema}


@pytest.mark.parametrize("schema", BAD, ids=range(len(BAD)))
def test_a_tool_whose_schema_a_provider_would_refuse_is_left_out_and_named(schema: dict[str, Any]) -> None:
    listing = taken(ListedTool("a", "A.", schema), ListedTool("b", "B.", PLAIN))
    assert [tool.name for tool in listing.tools] == ["b"]
    assert len(listing.left_out) == 1
    assert listing.left_out[0].startswith("a (")


def test_alternatives_of_the_outermost_object_which_providers_refuse_are_left_away() -> None:
    [tool] = of_schema({"type": "object", "oneOf": [PLAIN], "properties": {"a": {}}, "$schema": "x"}).tools
    assert tool.parameters == {"type": "object", "properties": {"a": {}}}


A, B = {"a": {"type": "string"}}, {"b": {"type": "integer"}}
KINDS: list[dict[str, Any]] = [{"const": "x"}, {"const": "y"}]
COMPOSED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"$ref": "#/definitions/In", "definitions": {"In": {**PLAIN, "properties": A}}}, {"properties": A}),
    (
        {"$ref": "#/$defs/In", "$defs": {"In": {"$ref": "#/$defs/B"}, "B": {"properties": B, "required": ["b"]}}},
        {"properties": B, "required": ["b"]},
    ),
    (
        {"allOf": [{"properties": A, "required": ["a"]}, {"properties": B, "required": ["b"]}]},
        {"properties": A | B, "required": ["a", "b"]},
    ),
    ({"anyOf": [{"properties": A, "required": ["a"]}, {"properties": B, "required": ["b"]}]}, {"properties": A | B}),
    (
        {"oneOf": [{"properties": A, "required": ["a"]}, {"properties": A | B, "required": ["b", "a"]}, False]},
        {"properties": A | B, "required": ["a"]},
    ),
    (
        {"oneOf": [{"properties": {"kind": kind}, "required": ["kind"]} for kind in KINDS], "properties": A},
        {"properties": A | {"kind": {"anyOf": KINDS}}, "required": ["kind"]},
    ),
    ({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "$defs": {"A": {"properties": A}}}, {"properties": A}),
    ({"properties": A, "allOf": [{"properties": {"a": {"type": "null"}}}]}, {"properties": A}),
    ({"$ref": "#"}, {"properties": {}}),
]


@pytest.mark.parametrize(("schema", "told"), COMPOSED, ids=range(len(COMPOSED)))
def test_of_what_the_outermost_object_is_composed_of_all_properties_are_told(
    schema: dict[str, Any], told: dict[str, Any]
) -> None:
    [tool] = of_schema(schema).tools
    definitions = {name: schema[name] for name in ("$defs", "definitions") if name in schema}
    assert tool.parameters == {"type": "object", **told, **definitions}


@pytest.mark.parametrize("schema", [{"$ref": "#/$defs/gone"}, {"$ref": "#/$defs/A", "$defs": {"A": {"type": "array"}}}])
def test_one_that_points_to_no_object_is_left_out(schema: dict[str, Any]) -> None:
    assert not of_schema(schema).tools


def test_any_number_of_alternatives_is_looked_at_within_a_bound() -> None:
    properties = {f"p{number}": {"type": "string"} for number in range(5_000)}
    pointers = [{"$ref": "#/$defs/A"}] * 5_000
    began = time.process_time()
    of_schema({"anyOf": pointers, "oneOf": pointers, "$defs": {"A": {"properties": properties, "anyOf": pointers}}})
    assert time.process_time() - began < 20


def test_what_is_null_counts_as_missing() -> None:
    nulls: dict[str, Any] = dict.fromkeys(("required", "properties", "description", "enum", "additionalProperties"))
    schema = {"type": "object", **nulls, "anyOf": [{**nulls, "properties": {"a": {**nulls, "type": "string"}}}]}
    [tool] = of_schema(schema).tools
    assert tool.parameters == {"type": "object", "properties": A}
    assert schema["required"] is None


def test_a_name_that_is_there_twice_counts_once() -> None:
    listing = taken(ListedTool("a", "One.", PLAIN), ListedTool("a", "Two.", PLAIN))
    assert [tool.description for tool in listing.tools] == ["[Of the MCP server box] One."]
    assert listing.left_out == ["a (another tool has the same name)"]


def test_names_without_an_end_descriptions_and_numbers_of_tools_are_bounded() -> None:
    tools = [ListedTool(f"t{number}", "x" * 100_000, PLAIN) for number in range(500)]
    listing = taken(ListedTool("n" * 201, "", PLAIN), ListedTool("", "", PLAIN), *tools)
    assert 0 < len(listing.tools) <= MAX_TOOLS
    assert sum(len(tool.description) for tool in listing.tools) <= 200_000
    assert len(listing.left_out) == 6
    assert sum(map(len, listing.left_out)) < 1_000


def test_one_that_is_too_large_takes_no_room_from_the_others() -> None:
    large = {"type": "object", "properties": {f"p{number}": {"description": "x" * 190} for number in range(80)}}
    tools = [ListedTool(f"l{number}", "", large) for number in range(20)]
    listing = taken(*tools, ListedTool("small", "", PLAIN))
    assert listing.left_out
    assert [tool.name for tool in listing.tools][-1] == "small"


def test_patterns_are_looked_at_within_a_bound_however_many_there_are() -> None:
    def tool(number: int, pattern: str) -> ListedTool:
        properties = {f"p{at}": {"pattern": pattern.format(number * 10 + at)} for at in range(10)}
        return ListedTool(f"t{number}", "", {"type": "object", "properties": properties})

    slow = "[ -\u2fff]" * 90 + "{:04}"
    began = time.process_time()
    listing = taken(*(tool(number, slow) for number in range(1_000)))
    assert "there are too many patterns" in listing.left_out[-2]
    assert time.process_time() - began < 30
    assert len(taken(*(tool(0, "^[a-z]{{1,9}}$")._replace(name=f"t{number}") for number in range(50))).tools) == 50


def test_what_is_pointed_to_is_looked_for_once() -> None:
    began = time.process_time()
    assert of_schema(pointed(20_000, 4_000)).left_out
    assert of_schema(pointed(300, 5_000)).tools
    listed: dict[str, Any] = {
        "enum": [{}] * 20_000,
        "anyOf": [{"$ref": f"#/properties/a/enum/{at}"} for at in range(2_000)],
    }
    assert of_schema({"type": "object", "properties": {"a": listed}}).tools
    assert time.process_time() - began < 10


def test_of_schemas_that_are_left_out_no_more_are_looked_at_than_of_others() -> None:
    broken: dict[str, Any] = {"type": "object", "properties": {"a": {"enum": [], "description": "x" * 15_000}}}
    listing = taken(*(ListedTool(f"t{number}", "", broken) for number in range(100)), ListedTool("late", "", PLAIN))
    assert not listing.tools
    assert listing.left_out[-1] == "96 more"


def test_of_descriptions_no_more_are_looked_at_than_of_schemas() -> None:
    secrets = tuple(f"{'s' * 60}{number}-" * 60 for number in range(20))
    listed = [ListedTool(f"tool-{number}", "s" * 16_000, {}) for number in range(1_000)]

    def took_s(number: int) -> tuple[float, Listing]:
        began = time.process_time()
        listing = taken(*listed[:number], secrets=secrets)
        return time.process_time() - began, listing

    few_s, _ = took_s(40)
    all_s, listing = took_s(1_000)
    assert all_s < 6 * few_s  # on a busy machine, too
    assert listing.left_out[-1].endswith("more")
    assert 0 < len(listing.tools) < 30


def test_what_a_person_would_not_see_and_secrets_are_no_part_of_what_is_told() -> None:
    schema = {"type": "object", "properties": {"a": {"description": "hid\u200bden\U000e0041\u00ad s3cret-value"}}}
    [tool] = taken(
        ListedTool("a", "Go\u202e on\U000e0067\ufe01: s3cret-value", schema), secrets=("s3cret-value",)
    ).tools
    assert tool.description == "[Of the MCP server box] Go on: [masked]"
    assert tool.parameters["properties"]["a"]["description"] == "hidden [masked]"


def test_only_those_that_are_wanted_are_offered() -> None:
    server = McpServer(name="box", transport="http", url="https://x.example.org", tools=frozenset({"get_*", "put"}))
    listed = [ListedTool(name, "", PLAIN) for name in ("get_a", "put", "put_b", "delete")]
    assert [tool.name for tool in taken(*listed, server=server).tools] == ["get_a", "put"]


def test_a_list_is_kept_word_for_word() -> None:
    listing = taken(ListedTool("ä", "Ü \x41", GOOD[3]), ListedTool("b", "", GOOD[4]))
    assert list(from_body(to_body(listing)).tools) == list(listing.tools)
    for content in (b"{", b"7", b"[7]", b'[{"name": "a"}]'):
        with pytest.raises(ValueError, match=r"."):
            from_body(content)


def test_all_servers_together_offer_no_more_than_providers_take() -> None:
    many = taken(*(ListedTool(f"t{number}", "", PLAIN) for number in range(MAX_TOOLS - 1)))
    some = dict(within_bound([("a", many), ("b", taken(*(ListedTool(f"u{n}", "", PLAIN) for n in range(3))))]))
    assert (len(some["a"].tools), len(some["b"].tools)) == (MAX_TOOLS - 1, 1)


def test_all_servers_together_fill_no_more_of_the_context_than_a_part_of_it() -> None:
    large: dict[str, Any] = {"type": "object", "properties": {"a": {"description": "x" * 30_000}}}
    box = taken(*(ListedTool(name, "", large) for name in "abc"), ListedTool("small", "", PLAIN))
    some = dict(within_bound([("box", box), ("other", taken(ListedTool("d", "", PLAIN)))], room_in(100_000)))
    assert [tool.name for tool in some["box"].tools] == ["a", "b", "small"]
    assert [tool.name for tool in some["other"].tools] == ["d"]
    assert sum(tool.size for listing in some.values() for tool in listing.tools) < 75_000


def test_where_a_long_description_is_cut_no_part_of_a_secret_is_told() -> None:
    (tool,) = taken(ListedTool("a", "x" * 15_990 + "s3cret-value" * 9, PLAIN), secrets=("s3cret-value" * 9,)).tools
    assert tool.description.endswith("x [...]")
    assert len(tool.description) < 4_100
