"""Tools that run in the gateway itself: a spec from the class of their arguments, and a function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache, lru_cache
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from backend_api.agent.capability import Setup
from backend_api.agent.tool import Done, Effect, Tool, ToolCall, ToolSpec, Waits
from backend_api.agent.tool_family import FamilyKind
from backend_api.agent.tools.model_schema import model_schema
from backend_api.agent.wrong_arguments import ArgumentFault, wrong_arguments
from backend_api.kit.invisible_characters import BLANK_FAULT, NUL_FAULT, has_nul, is_written_blank


class Arguments(BaseModel):
    """Base of every local tool's arguments: an unknown field is refused by name, and NUL in any text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="after")
    @classmethod
    def _check_for_nul(cls, value: Any) -> Any:
        if has_nul(value):
            raise PydanticCustomError("nul", NUL_FAULT)
        return value


def _checked_words(text: str) -> str:
    if is_written_blank(text):
        raise PydanticCustomError("blank", BLANK_FAULT)
    return text


A = TypeVar("A", bound=Arguments)
Words = Annotated[str, AfterValidator(_checked_words)]
"""A text with something visible in it, or empty if that is allowed."""
Line = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\r\n]*$"), AfterValidator(_checked_words)]
"""The same as `Words`, on a single line."""


def local_tool(
    *,
    name: str,
    description: str,
    arguments: type[A],
    phrase: str,
    effect: Effect,
    run_call: Callable[[ToolCall, A], Awaitable[Done | Waits]],
    needs_sandbox: bool = False,
    asks_person: bool = False,
    waits: bool = False,
    once: bool = False,
    deadline_ms: int = 30_000,
    family: FamilyKind | None = None,
) -> Tool:
    """A tool whose `run_call` gets validated arguments."""

    async def run_checked(call: ToolCall) -> Done | Waits:
        try:
            checked = arguments.model_validate(call.arguments)
        except ValidationError as error:
            faults = [
                ArgumentFault(tuple(str(part) for part in fault["loc"]), fault["msg"])
                for fault in error.errors(include_url=False, include_input=False)
            ]
            return Done(success=False, output=wrong_arguments(name, faults, call.arguments))
        return await run_call(call, checked)

    spec = _spec(
        name=name,
        description=description,
        arguments=arguments,
        phrase=phrase,
        effect=effect,
        needs_sandbox=needs_sandbox,
        asks_person=asks_person,
        waits=waits,
        once=once,
        deadline_ms=deadline_ms,
        family_kind=family,
    )
    return Tool(spec=spec, run_call=run_checked)


@lru_cache(maxsize=512)
def _spec(*, arguments: type[Arguments], **options: Any) -> ToolSpec:
    """Cached, as a tool that depends on its agent is made anew for each run."""
    return ToolSpec(parameters=_parameters(arguments), **options)


@cache
def _parameters(arguments: type[Arguments]) -> dict[str, Any]:
    return model_schema(arguments.model_json_schema())


class LocalTools:
    """`ToolSource` of tools that are the same for every agent."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """The same tools for every setup."""
        return self._tools


class MainAgentTools(LocalTools):
    """`ToolSource` of tools that only the main agent has, which the person talks to."""

    async def tools(self, setup: Setup) -> Sequence[Tool]:
        """No tools for sub-agents."""
        return await super().tools(setup) if setup.kind == "main" else []
