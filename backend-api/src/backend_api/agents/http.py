"""Routes for kinds of sub-agents: those that all users have, and the caller's own."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, status
from pydantic import Field

from backend_api.agent.subagent_kinds import (
    MAX_CALLS,
    MAX_DESCRIPTION_CHARACTERS,
    MAX_MINUTES,
    MAX_PROMPT_CHARACTERS,
    MAX_TOKENS,
    MAX_TOOL_RULE_CHARACTERS,
    MAX_TOOL_RULES,
    MIN_TOKENS,
    SubagentKind,
)
from backend_api.agents.application.change_kind import ChangeKind
from backend_api.agents.application.read_kinds import ReadKinds, ShownKind
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Words

router = APIRouter(prefix="/api/agents", tags=["agents"])
Name = Annotated[str, Path(max_length=100)]
Rule = Annotated[str, Field(min_length=1, max_length=MAX_TOOL_RULE_CHARACTERS)]


class AgentBody(AnswerBody):
    name: str
    description: str = Field(description="What the main agent reads of it.")
    prompt: str = Field(description="What an agent of this kind is told.")
    tools: list[str] | None = Field(description="Names and globs; null: all that the main agent may use.")
    only_reads: bool = Field(description="It has none of those that change something.")
    model: str | None = Field(description="null: the one for sub-agents, else the session's.")
    max_calls: int | None = Field(description="Calls of tools that one of them has; null: those of the run.")
    max_tokens: int | None = Field(description="Tokens new to it that one of them has; null: those of the run.")
    max_minutes: int | None = Field(description="Minutes that one of them works; null: those of its call.")
    source: Literal["product", "deployment", "user"]
    is_hidden: bool = Field(description="The deployment has one of this name since, which is asked instead.")


class ChangeAgentBody(RequestBody):
    description: Words = Field(min_length=1, max_length=MAX_DESCRIPTION_CHARACTERS, description="One line.")
    prompt: Words = Field(min_length=1, max_length=MAX_PROMPT_CHARACTERS)
    tools: list[Rule] | None = Field(
        default=None,
        max_length=MAX_TOOL_RULES,
        description="Names and globs, of the tools that the main agent may use; null: all of these.",
    )
    model: str | None = Field(default=None, min_length=1, max_length=200)
    max_calls: int | None = Field(
        default=None,
        ge=1,
        le=MAX_CALLS,
        description="At so many calls of tools an agent of it answers with what it has.",
    )
    max_tokens: int | None = Field(
        default=None, ge=MIN_TOKENS, le=MAX_TOKENS, description="The same at so many tokens that were new to it."
    )
    max_minutes: int | None = Field(default=None, ge=1, le=MAX_MINUTES, description="The same after so many minutes.")


def _body_of(shown: ShownKind) -> AgentBody:
    kind = shown.kind
    return AgentBody(
        name=kind.name,
        description=kind.description,
        prompt=kind.prompt,
        tools=None if kind.tools is None else sorted(kind.tools),
        only_reads=kind.only_reads,
        model=kind.model,
        max_calls=kind.max_calls,
        max_tokens=kind.max_tokens,
        max_minutes=kind.max_minutes,
        source=shown.source,
        is_hidden=shown.is_hidden,
    )


@router.get("")
async def list_agents(caller: CurrentCaller, read_kinds: Annotated[ReadKinds, port("read_kinds")]) -> list[AgentBody]:
    """List the kinds of sub-agents in the caller's conversations."""
    return [_body_of(shown) for shown in await read_kinds(caller.user.id)]


@router.put(
    "/{name}",
    responses={409: {}},
    openapi_extra=with_example(
        {
            "description": "Checks numbers of a report against its sources.",
            "prompt": "Check each number against its source, and list those that differ.",
            "tools": ["file_read", "web_*"],
            "max_calls": 40,
            "max_minutes": 10,
        }
    ),
)
async def put_agent(
    name: Name,
    body: ChangeAgentBody,
    caller: CurrentCaller,
    change_kind: Annotated[ChangeKind, port("change_kind")],
    read_kinds: Annotated[ReadKinds, port("read_kinds")],
) -> AgentBody:
    """Write one of the caller's own kinds, or replace it; it holds from the next run on."""
    wanted = SubagentKind(
        name=name,
        description=body.description,
        prompt=body.prompt,
        tools=None if body.tools is None else frozenset(body.tools),
        model=body.model,
        max_calls=body.max_calls,
        max_tokens=body.max_tokens,
        max_minutes=body.max_minutes,
    )
    kept = await change_kind.put(caller.user.id, wanted)
    return _body_of(read_kinds.shown(kept))


@router.delete("/{name}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_agent(
    name: Name, caller: CurrentCaller, change_kind: Annotated[ChangeKind, port("change_kind")]
) -> None:
    """Delete one of the caller's own kinds."""
    await change_kind.delete(caller.user.id, name)
