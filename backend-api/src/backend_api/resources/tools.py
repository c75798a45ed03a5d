"""`resource_add` and its siblings: the agent's tools for resources, which the person finds again in the
conversation."""

from __future__ import annotations

from functools import partial

from pydantic import Field

from backend_api.agent.events import ResourceKind
from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, Line, local_tool
from backend_api.kit.errors import ConflictError, InvalidError, NotFoundError, PreconditionError
from backend_api.kit.ids import SessionId, UserId
from backend_api.resources.application import KeepResources
from backend_api.resources.domain import (
    MAX_CONTENT_CHARACTERS,
    MAX_LINK_CHARACTERS,
    MAX_RESOURCES,
    MAX_TITLE_CHARACTERS,
    Changes,
    Draft,
    Resource,
)

DEADLINE_MS = 15_000
REFUSALS = (ConflictError, InvalidError, NotFoundError, PreconditionError)
_LINK = "A whole https:// address; of a file its path in the workspace."
_ID = "As resource_list has it."


class AddArguments(Arguments):
    title: Line = Field(min_length=1, max_length=MAX_TITLE_CHARACTERS)
    kind: ResourceKind
    link: Line = Field(default="", max_length=MAX_LINK_CHARACTERS, description=_LINK)
    content: str = Field(default="", max_length=MAX_CONTENT_CHARACTERS, description="A text to keep, in Markdown.")


class ListArguments(Arguments):
    id: Line = Field(default="", max_length=40, description="One to read with its text; empty: a list of all.")


class UpdateArguments(Arguments):
    id: Line = Field(min_length=1, max_length=40, description=_ID)
    title: Line | None = Field(default=None, min_length=1, max_length=MAX_TITLE_CHARACTERS)
    kind: ResourceKind | None = None
    link: Line | None = Field(default=None, max_length=MAX_LINK_CHARACTERS, description=_LINK)
    content: str | None = Field(default=None, max_length=MAX_CONTENT_CHARACTERS)


class RemoveArguments(Arguments):
    id: Line = Field(min_length=1, max_length=40, description=_ID)


def resource_tools(resources: KeepResources | None) -> list[Tool]:
    """The resource tools. Without `resources` they only describe themselves and can't be called."""

    async def add(call: ToolCall, arguments: AddArguments) -> Done:
        assert resources is not None
        draft = Draft(title=arguments.title, kind=arguments.kind, link=arguments.link, content=arguments.content)
        try:
            kept = await resources.add(SessionId(call.session_id), UserId(call.user_id), draft, added_by="agent")
        except REFUSALS as refused:
            return _refused(refused)
        return Done(success=True, output=f"Kept as {kept.id}: {kept.title}")

    async def tell(call: ToolCall, arguments: ListArguments) -> Done:
        assert resources is not None
        session_id, user_id = SessionId(call.session_id), UserId(call.user_id)
        try:
            if arguments.id:
                return Done(success=True, output=_whole(await resources.find(session_id, user_id, arguments.id)))
            kept = await resources.all(session_id, user_id)
        except NotFoundError as missing:
            return Done(success=False, output=missing.detail)
        return Done(success=True, output="\n".join(map(_line, kept)) or "There are no resources.")

    async def update(call: ToolCall, arguments: UpdateArguments) -> Done:
        assert resources is not None
        changes = Changes(title=arguments.title, kind=arguments.kind, link=arguments.link, content=arguments.content)
        try:
            kept = await resources.change(SessionId(call.session_id), UserId(call.user_id), arguments.id, changes)
        except REFUSALS as refused:
            return _refused(refused)
        return Done(success=True, output=f"Changed {kept.id}: {kept.title}")

    async def remove(call: ToolCall, arguments: RemoveArguments) -> Done:
        assert resources is not None
        try:
            await resources.remove(SessionId(call.session_id), UserId(call.user_id), arguments.id)
        except REFUSALS as refused:
            return _refused(refused)
        return Done(success=True, output=f"Removed {arguments.id}.")

    note = partial(local_tool, effect="notes", deadline_ms=DEADLINE_MS)
    return [
        note(
            name="resource_add",
            description=(
                "Keep something with this conversation, where the person finds it: a paper, page, file of the "
                f"workspace, data or note, with a link, a text, or both. At most {MAX_RESOURCES}."
            ),
            arguments=AddArguments,
            phrase="Keeping {title}",
            run_call=add,
        ),
        local_tool(
            name="resource_list",
            description="Read what is kept with this conversation: all by title, or one with its text.",
            arguments=ListArguments,
            phrase="Looking at what is kept",
            effect="reads",
            run_call=tell,
            deadline_ms=DEADLINE_MS,
        ),
        note(
            name="resource_update",
            description="Change what is kept with this conversation.",
            arguments=UpdateArguments,
            phrase="Changing resource {id}",
            run_call=update,
        ),
        note(
            name="resource_remove",
            description="Remove from this conversation what was kept and is of no use any more.",
            arguments=RemoveArguments,
            phrase="Removing resource {id}",
            run_call=remove,
        ),
    ]


def _refused(refused: ConflictError | InvalidError | NotFoundError | PreconditionError) -> Done:
    return Done(success=False, output=f"Nothing was changed: {refused.detail}")


def _line(one: Resource) -> str:
    link = f" {one.link}" if one.link else ""
    text = f" (text of {len(one.content)} characters)" if one.content else ""
    return f"{one.id} [{one.kind}] {one.title}{link}{text}"


def _whole(one: Resource) -> str:
    return f"{_line(one)}\n\n{one.content}" if one.content else _line(one)
