"""What a model is told of a tool's arguments."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from backend_api.agent.tools.model_schema import model_schema
from support.modules import known_tools


class Step(BaseModel):
    """What the class says of itself."""

    title: str = Field(min_length=1, max_length=200, pattern=r"^\S.*$", description="In a line.")
    status: Literal["open", "done"] = "open"


class Arguments(BaseModel):
    """What the class says of itself."""

    path: str = Field(min_length=1, max_length=4096, description="Where.")
    title: str = Field(default="", description="An argument of this name stays.")
    first: int | None = Field(default=None, ge=1, le=1_000_000_000, description="First line.")
    most: Annotated[int, Field(le=20)] = 8
    deep: bool = False
    either: int | str | None = None
    steps: list[Step] = Field(default=[], max_length=30)
    step: Step | None = Field(default=None, description="One of them.")


def test_it_has_names_kinds_and_meaning_and_not_what_only_the_check_needs() -> None:
    step = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 200, "description": "In a line."},
            "status": {"type": "string", "enum": ["open", "done"], "default": "open"},
        },
        "required": ["title"],
    }
    assert model_schema(Arguments.model_json_schema()) == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "title": {"type": "string", "description": "An argument of this name stays."},
            "first": {"type": "integer", "description": "First line."},
            "most": {"type": "integer", "maximum": 20, "default": 8},
            "deep": {"type": "boolean"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
            "steps": {"type": "array", "items": step, "maxItems": 30},
            "step": {**step, "description": "One of them."},
        },
        "required": ["path"],
    }


def test_all_shipped_tools_together_are_told_in_little() -> None:
    tools = known_tools()
    assert sum(tool.offer_bytes for tool in tools) < 435 * len(tools)
    assert max((tool.offer_bytes, tool.name) for tool in tools)[0] < 1_300
    assert [tool.name for tool in tools if "$" in "".join(tool.parameters) or "title" in tool.parameters] == []
