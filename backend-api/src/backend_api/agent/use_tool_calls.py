"""Calls through `use_tool`, turned into calls of the tools they name, which are judged, recorded, shown and run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from backend_api.agent.events import ToolCalled, ToolFinished
from backend_api.agent.model import ToolRequest
from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_families import LOAD_TOOL, USE_TOOL
from backend_api.agent.tool_rules import FOREIGN_PREFIX
from backend_api.agent.wrong_arguments import ArgumentFault, wrong_arguments

_FORM = (
    f"Nothing was run: {USE_TOOL} takes `name`, the name of a tool, and `arguments`, an object with the arguments of "
    "that tool."
)
_ITSELF = f"Nothing was run: {USE_TOOL} can't be called by itself. Give the name of the tool you mean."
_DEFINED = "{said}\nThis is the tool:\n{offer}"
_REFUSED = wrong_arguments("", (), {}).removesuffix(" .")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedCall:
    """The call that a request means. `said` are the arguments of `use_tool` if it came that way, and `fault` is why it
    means none."""

    request: ToolRequest
    said: dict[str, Any] | None = None
    fault: str | None = None


def resolve_call(request: ToolRequest) -> ResolvedCall:
    """The call of the named tool for one through `use_tool`; any other request means itself."""
    said = request.arguments
    if request.name != USE_TOOL or said is None:
        return ResolvedCall(request=request)
    name, arguments = said.get("name"), _object(said.get("arguments", {}))
    if name == USE_TOOL:
        return ResolvedCall(request=request, fault=_ITSELF)
    if not isinstance(name, str) or not name or arguments is None:
        return ResolvedCall(request=request, fault=_FORM)
    return ResolvedCall(request=replace(request, name=name, arguments=arguments), said=said)


def as_requested(called: ToolCalled) -> ToolRequest:
    """The call as the model made it, in which form it is sent back to the model ever after."""
    name, arguments = called.name, called.arguments
    if called.via is not None:
        name, arguments = called.via, called.said or {"name": called.name, "arguments": called.arguments}
    return ToolRequest(call_id=called.call_id, name=name, arguments=arguments, opaque=called.opaque)


def differing(said: dict[str, Any] | None, name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments of `use_tool`, unless they can be derived from the call itself."""
    if said is None or json.dumps(said) == json.dumps({"name": name, "arguments": arguments}):
        return None
    return said


def misfit(spec: ToolSpec, arguments: Mapping[str, Any]) -> str | None:
    """The error for arguments that don't match a tool whose definition was not loaded, together with that
    definition."""
    properties = cast("Mapping[str, Any]", spec.parameters.get("properties") or {})
    required = cast("list[str]", spec.parameters.get("required") or [])
    faults = [ArgumentFault((name,), "it is missing") for name in required if name not in arguments]
    if not spec.name.startswith(FOREIGN_PREFIX):
        faults += [ArgumentFault((name,), "there is no such argument") for name in arguments if name not in properties]
    return with_definition(wrong_arguments(spec.name, faults, arguments), spec) if faults else None


def with_definition(said: str, spec: ToolSpec) -> str:
    """The error with the tool's definition added, if it is about arguments."""
    return _DEFINED.format(said=said, offer=spec.offer) if said.startswith(_REFUSED) else said


def loaded_by(called: ToolCalled, finished: ToolFinished) -> tuple[str, str] | None:
    """The family that this call loaded, and its search words."""
    if called.name != LOAD_TOOL or not finished.success:
        return None
    return str(called.arguments.get("family") or ""), str(called.arguments.get("find") or "")


def _object(given: object) -> dict[str, Any] | None:
    """Arguments that are an object, or the text of one."""
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            return None
    return cast("dict[str, Any]", given) if isinstance(given, dict) else None
