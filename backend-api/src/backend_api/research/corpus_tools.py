"""`corpus_add` and its siblings: the person's collection of papers, with notes and tags."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from pydantic import Field

from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, Line, local_tool
from backend_api.kit.errors import ConflictError, InvalidError, NotFoundError, TooLargeError, UpstreamError
from backend_api.kit.ids import UserId
from backend_api.kit.untrusted.resolver import lookups_of
from backend_api.research.corpus import Corpus
from backend_api.research.domain import MAX_NOTES_CHARACTERS, MAX_TAGS, Filter, RecordId
from backend_api.research.identity import MAX_ID_CHARACTERS, parse_id
from backend_api.research.listing import UNTRUSTED, record_text, records_text

DEADLINE_MS = 60_000
KEPT, KEPT_BEFORE = "Kept as", "It was already kept, as"
_RECORD = "The id of the record, as corpus_list tells it."
A = TypeVar("A", bound=Arguments)
Work = Callable[[ToolCall, A], Awaitable[Done]]


class AddArguments(Arguments):
    id: Line = Field(min_length=1, max_length=MAX_ID_CHARACTERS, description="DOI, arXiv, OpenAlex or S2 id.")
    tags: list[Line] = Field(default_factory=list[Line], max_length=MAX_TAGS)


class ListArguments(Arguments):
    query: str = Field(default="", max_length=200, description="Words of title, authors, abstract, tags or notes.")
    tag: str = Field(default="", max_length=60)
    only_here: bool = Field(default=False, description="Only those that were kept in this conversation.")
    limit: int = Field(default=20, ge=1, le=100)
    cursor: str | None = Field(default=None, max_length=200)


class RecordArguments(Arguments):
    record: Line = Field(min_length=1, max_length=60, description=_RECORD)


class TagArguments(RecordArguments):
    add: list[Line] = Field(default_factory=list[Line], max_length=MAX_TAGS)
    remove: list[Line] = Field(default_factory=list[Line], max_length=MAX_TAGS)


class AnnotateArguments(RecordArguments):
    notes: str = Field(max_length=MAX_NOTES_CHARACTERS, description="A note to add below those that are there.")
    replace: bool = Field(default=False, description="Put it in the place of those that are there.")


def corpus_tools(corpus: Corpus | None) -> list[Tool]:
    """The corpus tools. Without a `corpus` they only describe themselves and can't be called."""

    def told(work: Work[A]) -> Work[A]:
        async def run_call(call: ToolCall, arguments: A) -> Done:
            try:
                with lookups_of(call.user_id):
                    return await work(call, arguments)
            except (ConflictError, InvalidError, NotFoundError, TooLargeError, UpstreamError) as error:
                return Done(success=False, output=error.detail)

        return run_call

    async def add(call: ToolCall, arguments: AddArguments) -> Done:
        assert corpus is not None
        added = await corpus.add(
            UserId(call.user_id), parse_id(arguments.id), by="agent", session_id=call.session_id, tags=arguments.tags
        )
        said = KEPT if added.is_new else KEPT_BEFORE
        lines = [f"{said} {added.record.id}: {added.record.paper.title}", *(f"Notice: {one}" for one in added.notices)]
        return Done(success=True, output="\n".join(lines))

    async def list_records(call: ToolCall, arguments: ListArguments) -> Done:
        assert corpus is not None
        session_id = call.session_id if arguments.only_here else ""
        wanted = Filter(text=arguments.query, tag=arguments.tag, session_id=session_id)
        page = await corpus.page(UserId(call.user_id), wanted, limit=arguments.limit, cursor=arguments.cursor)
        return Done(success=True, output=f"{UNTRUSTED}\n\n{records_text(page)}")

    async def read(call: ToolCall, arguments: RecordArguments) -> Done:
        assert corpus is not None
        record = await corpus.get(UserId(call.user_id), RecordId(arguments.record))
        return Done(success=True, output=f"{UNTRUSTED}\n\n{record_text(record)}")

    async def tag(call: ToolCall, arguments: TagArguments) -> Done:
        assert corpus is not None
        gone = {one.casefold() for one in arguments.remove}
        record = await corpus.change(
            UserId(call.user_id),
            RecordId(arguments.record),
            lambda known: known.with_tags(
                one for one in (*known.tags, *arguments.add) if one.casefold() not in gone or one in arguments.add
            ),
        )
        return Done(success=True, output=f"Tags of {record.id}: {', '.join(record.tags) or '(none)'}")

    async def annotate(call: ToolCall, arguments: AnnotateArguments) -> Done:
        assert corpus is not None
        record = await corpus.change(
            UserId(call.user_id),
            RecordId(arguments.record),
            lambda known: known.with_notes(
                arguments.notes if arguments.replace or not known.notes else f"{known.notes}\n\n{arguments.notes}"
            ),
        )
        return Done(success=True, output=f"The notes of {record.id} have {len(record.notes):,} characters.")

    async def delete(call: ToolCall, arguments: RecordArguments) -> Done:
        assert corpus is not None
        await corpus.delete(UserId(call.user_id), RecordId(arguments.record))
        return Done(success=True, output=f"Deleted {arguments.record}.")

    reads = partial(local_tool, effect="reads", deadline_ms=DEADLINE_MS)
    writes = partial(local_tool, effect="writes", deadline_ms=DEADLINE_MS)
    return [
        writes(
            name="corpus_add",
            description="Keep a paper in the person's collection, as sources tell of it. One that is there stays one.",
            arguments=AddArguments,
            phrase="Keeping paper {id}",
            run_call=told(add),
        ),
        reads(
            name="corpus_list",
            description="The papers that the person keeps, newest first.",
            arguments=ListArguments,
            phrase="Looking through the collection of papers",
            run_call=told(list_records),
        ),
        reads(
            name="corpus_read",
            description="One of the papers that the person keeps, with abstract, tags and notes.",
            arguments=RecordArguments,
            phrase="Looking at {record}",
            run_call=told(read),
        ),
        writes(
            name="corpus_tag",
            description="Add and remove tags of a paper that is kept.",
            arguments=TagArguments,
            phrase="Tagging {record}",
            run_call=told(tag),
        ),
        writes(
            name="corpus_annotate",
            description="Add a note to a paper that is kept.",
            arguments=AnnotateArguments,
            phrase="Writing a note on {record}",
            run_call=told(annotate),
        ),
        writes(
            name="corpus_delete",
            description="Delete a paper from the collection, with its notes.",
            arguments=RecordArguments,
            phrase="Deleting {record} from the collection",
            run_call=told(delete),
        ),
    ]
