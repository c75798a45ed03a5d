"""`papers_search` and its siblings: scientific papers of several sources, by any of their ids. All are read-only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

from pydantic import Field

from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, Line, local_tool
from backend_api.kit.errors import InvalidError, NotFoundError, UpstreamError
from backend_api.kit.untrusted.resolver import lookups_of
from backend_api.research.findings import ReadTexts
from backend_api.research.identity import MAX_ID_CHARACTERS, parse_id
from backend_api.research.listing import UNTRUSTED, displayed, linked, listed, read_text, whole
from backend_api.research.papers import Found, Papers
from backend_api.research.ports import Answers, Query
from backend_api.research.reading import PaperTexts

DEADLINE_MS = 90_000
READ_DEADLINE_MS = 180_000
MAX_QUERY_CHARACTERS = 500
NONE_FOUND = "No papers were found. Try other or fewer words."
_ID = "DOI, arXiv id, OpenAlex id or Semantic Scholar id."
SourceName = Literal["auto", "openalex", "arxiv", "semantic_scholar", "crossref"]
A = TypeVar("A", bound=Arguments)
Work = Callable[[ToolCall, A], Awaitable[Done]]


class SearchArguments(Arguments):
    query: Line = Field(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="Words of title or subject.")
    source: SourceName = Field(default="auto", description="auto asks all at once and merges what they find.")
    year_from: int | None = Field(default=None, ge=1500, le=2200)
    year_to: int | None = Field(default=None, ge=1500, le=2200)
    limit: int = Field(default=10, ge=1, le=50)
    open_access: bool = Field(default=False, description="Only those that anybody may read.")


class PaperArguments(Arguments):
    id: Line = Field(min_length=1, max_length=MAX_ID_CHARACTERS, description=_ID)


class RelatedArguments(PaperArguments):
    limit: int = Field(default=20, ge=1, le=100)


class ReadArguments(PaperArguments):
    sections: list[Line] | None = Field(
        default=None, max_length=20, description="Numbers or words of titles, as the outline has them; none: outline."
    )
    start: int = Field(default=0, ge=0, le=10_000_000, description="Character of the first of them to read on at.")


class AuthorArguments(Arguments):
    name: Line = Field(min_length=1, max_length=200)
    limit: int = Field(default=20, ge=1, le=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limit on a run's calls to sources; 0: no limit."""

    answers: Answers
    most: int = 0

    async def spend(self, call: ToolCall) -> tuple[bool, str]:
        """Count a call; returns whether it is allowed, and a notice about the remaining calls."""
        if self.most <= 0:
            return True, ""
        left = self.most - await self.answers.count_call(call.run_id)
        if left < 0:
            return False, (
                f"Not called: this run has used all {self.most} of its calls to sources of papers "
                "(RESEARCH_MAX_CALLS). Go on with what was found; the corpus can still be read."
            )
        near = max(self.most // 5, 3)
        return (
            True,
            f"Calls to sources of papers left in this run: {left} of {self.most}." if left <= near else "",
        )


def paper_tools(
    papers: Papers | None, texts: PaperTexts | None, budget: Budget | None, read_texts: ReadTexts | None = None
) -> list[Tool]:
    """The tools. Without `papers` they only describe themselves and can't be called."""

    def asked(work: Work[A]) -> Work[A]:
        """Wrap the work of a tool: it spends from the budget, and errors become results."""

        async def run_call(call: ToolCall, arguments: A) -> Done:
            assert budget is not None
            may, notice = await budget.spend(call)
            if not may:
                return Done(success=False, output=notice)
            try:
                with lookups_of(call.user_id):
                    done = await work(call, arguments)
            except (InvalidError, NotFoundError, UpstreamError) as error:
                return Done(success=False, output="\n".join(filter(None, (error.detail, notice))))
            output = "\n".join(filter(None, (notice, done.output)))
            return Done(success=done.success, output=output, display=done.display)

        return run_call

    async def search(call: ToolCall, arguments: SearchArguments) -> Done:
        assert papers is not None
        del call
        query = Query(
            text=arguments.query,
            limit=arguments.limit,
            year_from=arguments.year_from,
            year_to=arguments.year_to,
            is_open=arguments.open_access,
        )
        source = None if arguments.source == "auto" else arguments.source
        return _list(await papers.search(query, source), arguments.query, arguments.source)

    async def details(call: ToolCall, arguments: PaperArguments) -> Done:
        assert papers is not None
        del call
        found = await papers.details(parse_id(arguments.id))
        return Done(success=True, output=_marked(found.notices, whole(found.papers[0])))

    async def read(call: ToolCall, arguments: ReadArguments) -> Done:
        assert texts is not None
        paper_id = parse_id(arguments.id)
        found = await texts.read(paper_id)
        if read_texts is not None:
            ids = [*dict.fromkeys((paper_id, *found.paper.ids))]
            await read_texts.remember(call.run_id, ids, found.sections, found.paper.abstract)
        text = read_text(found, arguments.sections or (), arguments.start)
        return Done(success=True, output=_marked(found.notices, text))

    async def related(call: ToolCall, arguments: RelatedArguments, relation: str) -> Done:
        assert papers is not None
        del call
        paper_id = parse_id(arguments.id)
        found = await papers.related(paper_id, relation, arguments.limit)  # pyright: ignore[reportArgumentType] -- below
        return _list(found, f"{relation} {paper_id.value}", "auto")

    async def by_author(call: ToolCall, arguments: AuthorArguments) -> Done:
        assert papers is not None
        del call
        return _list(await papers.by_author(arguments.name, arguments.limit), arguments.name, "auto")

    async def code(call: ToolCall, arguments: PaperArguments) -> Done:
        assert texts is not None
        del call
        found = await texts.code(parse_id(arguments.id))
        return Done(success=True, output=_marked(found.notices, linked(found, "code")))

    async def data(call: ToolCall, arguments: PaperArguments) -> Done:
        assert texts is not None
        del call
        found = await texts.data(parse_id(arguments.id))
        return Done(success=True, output=_marked(found.notices, linked(found, "data sets")))

    tool = partial(local_tool, effect="reads", deadline_ms=DEADLINE_MS)
    relation = {name: asked(partial(related, relation=name)) for name in ("citations", "references", "recommended")}
    return [
        tool(
            name="papers_search",
            description=(
                "Search scientific papers in OpenAlex, Semantic Scholar, arXiv and Crossref. Answers titles, authors, "
                "years, ids and the beginnings of abstracts."
            ),
            arguments=SearchArguments,
            phrase="Searching papers for {query}",
            run_call=asked(search),
        ),
        tool(
            name="paper_details",
            description="All that sources know of a paper: authors, abstract, venue, ids, citations, retraction.",
            arguments=PaperArguments,
            phrase="Looking up paper {id}",
            run_call=asked(details),
        ),
        tool(
            name="paper_read",
            description=(
                "Read the text of a paper by sections, from its arXiv source or a PDF that anybody may read. Says "
                "where only the abstract is to be had."
            ),
            arguments=ReadArguments,
            phrase="Reading paper {id}",
            run_call=asked(read),
            deadline_ms=READ_DEADLINE_MS,
        ),
        tool(
            name="paper_citations",
            description="Papers that cite a paper, the most cited ones first.",
            arguments=RelatedArguments,
            phrase="Finding citations of {id}",
            run_call=relation["citations"],
        ),
        tool(
            name="paper_references",
            description="Papers that a paper cites.",
            arguments=RelatedArguments,
            phrase="Finding references of {id}",
            run_call=relation["references"],
        ),
        tool(
            name="papers_recommend",
            description="Papers that are like one.",
            arguments=RelatedArguments,
            phrase="Finding papers like {id}",
            run_call=relation["recommended"],
        ),
        tool(
            name="papers_by_author",
            description="Papers of an author. Others may have the same name: compare fields and co-authors.",
            arguments=AuthorArguments,
            phrase="Finding papers by {name}",
            run_call=asked(by_author),
        ),
        tool(
            name="paper_code",
            description="Repositories and models that belong to a paper on arXiv.",
            arguments=PaperArguments,
            phrase="Finding code of {id}",
            run_call=asked(code),
        ),
        tool(
            name="paper_data",
            description="Data sets that belong to a paper on arXiv.",
            arguments=PaperArguments,
            phrase="Finding data of {id}",
            run_call=asked(data),
        ),
    ]


def _list(found: Found, query: str, provider: str) -> Done:
    output = _marked(found.notices, listed(found.papers)) if found.papers else "\n".join([*found.notices, NONE_FOUND])
    return Done(success=True, output=output, display=displayed(query, provider, found.papers))


def _marked(notices: Sequence[str], text: str) -> str:
    return "\n".join([*(f"Notice: {one}" for one in notices), UNTRUSTED, "", text])
