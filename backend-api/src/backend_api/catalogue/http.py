"""Routes that list tools, models and presets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from backend_api.agent.options import NO_OPTIONS, stored_options
from backend_api.agent.preset import Preset
from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_families import kind_of
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody
from backend_api.kit.ids import SessionId
from backend_api.mcp.application.list_tools import ListMcpTools, OfferedMcpTool
from backend_api.mcp.http.mcp import McpCode, code_of
from backend_api.settings.application.effective_settings import OpenEffectiveSettings

router = APIRouter(prefix="/api", tags=["catalogue"])


class ModelBody(AnswerBody):
    id: str
    label: str
    provider: str
    is_demo: bool
    is_default: bool
    is_official: bool
    """Whether the provider itself serves it, and not another service that speaks its protocol."""
    context_window: int
    notes: list[str]
    thinking: Literal["never", "optional", "always"]
    vision: bool


class ToolBody(AnswerBody):
    name: str
    description: str
    parameters: dict[str, Any]
    phrase: str
    read_only: bool
    dangerous: bool
    family: str | None = None
    """The family of the tool; null if it has none. An agent can load the families that are not in its prompt."""
    server: str | None = None
    """The MCP server of the tool. If the server can't be reached, its one entry is the glob of all its tools."""
    error: str | None = None
    """The reason why that server could not be reached."""
    code: McpCode | None = None
    """The code of that error."""


class SuggestionBody(AnswerBody):
    """A suggestion for a first message; `title` is its subject."""

    title: str
    text: str


class PresetTextBody(AnswerBody):
    label: str
    description: str
    suggestions: list[SuggestionBody]


class PresetBody(PresetTextBody):
    id: str
    is_default: bool
    has_computer: bool
    """Whether any of its tools needs a computer; if not, its sessions get none."""
    tools: list[str] | None
    """Names and globs of its tools; null: all."""
    model: str | None
    options: dict[str, Any]
    """Options that hold if the session chooses none."""
    translations: dict[str, PresetTextBody]
    """Texts by language, such as `zh`."""

    @classmethod
    def of(cls, preset: Preset, *, is_default: bool, has_computer: bool) -> PresetBody:
        """The answer for a preset."""
        return cls(
            **PresetTextBody.model_validate(preset.text).model_dump(),
            id=preset.id,
            is_default=is_default,
            has_computer=has_computer,
            tools=None if preset.tools is None else sorted(preset.tools),
            model=preset.options.model,
            options=stored_options(preset.options),
            translations={
                language: PresetTextBody.model_validate(text) for language, text in preset.translations.items()
            },
        )


@router.get("/tools", responses={404: {}})
async def tools(
    caller: CurrentCaller,
    tools: Annotated[tuple[ToolSpec, ...], port("tools")],
    list_mcp_tools: Annotated[ListMcpTools | None, port("list_mcp_tools", None)],
    sessions: Annotated[SessionRepository, port("sessions")],
    rules: Annotated[OptionRules, port("rules")],
    session_id: Annotated[str | None, Query(max_length=200)] = None,
) -> list[ToolBody]:
    """List the agent's tools, followed by those of the caller's MCP servers; with `session_id` only those in the
    session's preset. An MCP server has five seconds to list its tools: one that does not, or can't be reached, is one
    entry named by a glob, such as `mcp__wiki__*`, with the reason in `error`."""
    if session_id is None:
        own, preset = tools, None
    else:
        session = await sessions.get(SessionId(session_id), caller.user.id)
        own, preset = rules.tools_of(session), rules.preset_of(session)
    offered: Sequence[OfferedMcpTool] = ()
    if list_mcp_tools is not None:
        offered = await list_mcp_tools.of(caller.user.id, preset.may_have if preset is not None else _any)
    return [
        *(ToolBody.model_validate(tool).model_copy(update={"family": _family_of(tool)}) for tool in own),
        *(
            _tool_of_server(one)
            for one in offered
            if preset is None or one.error is not None or preset.has(one.spec.name)
        ),
    ]


def _tool_of_server(one: OfferedMcpTool) -> ToolBody:
    params: dict[str, str | None] = {"server": one.server, "family": _family_of(one.spec)}
    if one.error is not None:
        params |= {"error": str(one.error), "code": code_of(one.error.cause)}
    return ToolBody.model_validate(one.spec).model_copy(update=params)


def _family_of(spec: ToolSpec) -> str | None:
    kind = kind_of(spec)
    return kind.name if kind is not None else None


def _any(prefix: str) -> bool:
    del prefix
    return True


@router.get("/models")
async def models(
    caller: CurrentCaller, effective_settings: Annotated[OpenEffectiveSettings, port("effective_settings")]
) -> list[ModelBody]:
    """List the models the caller's sessions can use, the default first."""
    async with effective_settings(caller.user.id) as effective:
        return [ModelBody.model_validate(model) for model in effective.catalogue.models()]


@router.get("/presets")
async def presets(caller: CurrentCaller, option_rules: Annotated[OptionRules, port("rules")]) -> list[PresetBody]:
    """List the presets a session can have, the default first."""
    del caller
    rules = option_rules
    default = rules.presets.layered(rules.defaults, NO_OPTIONS)[0]
    ordered = sorted(rules.presets.all, key=lambda preset: preset.id != default.id)
    return [
        PresetBody.of(preset, is_default=preset.id == default.id, has_computer=preset.has_sandbox(rules.tools))
        for preset in ordered
    ]
