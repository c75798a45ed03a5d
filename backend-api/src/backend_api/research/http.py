"""Routes of the caller's corpus: papers with notes and tags, imported and exported as BibTeX and RIS."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from pydantic import Field

from backend_api.identity.http.caller import ONE_PLACE, CurrentCaller
from backend_api.kit.errors import InvalidError
from backend_api.kit.http.closing import ClosingResponse
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody, Time
from backend_api.research.application import Research
from backend_api.research.bibliography import Form, written
from backend_api.research.domain import (
    MAX_NOTES_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    Filter,
    Record,
    RecordId,
)
from backend_api.research.identity import MAX_ID_CHARACTERS, parse_id
from backend_api.research.keys import KeyedSource, Outcome
from backend_api.research.matching import Match
from backend_api.sandboxes.http.forms import uploaded_files

router = APIRouter(prefix="/api/corpus", tags=["research"])
MAX_IMPORT_BYTES = 48 * 1024**2
MAX_PDF_BYTES = 50 * 1024**2
_FILE = "file"
_MEDIA = {"bibtex": ("application/x-bibtex", "bib"), "ris": ("application/x-research-info-systems", "ris")}
Use = Annotated[Research, port("research")]
Name = Annotated[str, Path(max_length=60)]
IfMatch = Annotated[str | None, Header(max_length=100, description="The `etag` it was read with.")]
RecordName = Annotated[str, Field(max_length=60, pattern=r"^[^\x00]*$")]
SessionName = Annotated[str, Field(max_length=100)]
_EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {"content": {media: {"schema": {"type": "string"}} for media, _ in _MEDIA.values()}},
    422: {},
}
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": [_FILE],
                    "properties": {_FILE: {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}


class RecordBody(AnswerBody):
    id: str
    paper_id: str = Field(description="By the rule: DOI, else arXiv id, else another; empty: it has a title alone.")
    title: str
    authors: list[str]
    abstract: str
    year: int | None
    venue: str
    kind: str = Field(description="By its name in CSL, such as `article-journal`; empty: a preprint, or not known.")
    volume: str
    issue: str
    pages: str
    publisher: str
    source: str = Field(description="Which source told of it first, or `import`.")
    url: str
    doi: str
    arxiv_id: str
    pdf: str
    citations: int | None
    is_retracted: bool
    notes: str
    tags: list[str]
    sessions: list[str]
    added_by: str
    is_imported: bool = Field(description="It was imported from a file, and no source has confirmed it.")
    created_at: Time
    etag: str


class RecordPageBody(AnswerBody):
    is_enabled: bool
    items: list[RecordBody]
    total: int
    next_cursor: str | None


class TagBody(AnswerBody):
    tag: str
    count: int


class AddedBody(AnswerBody):
    record: RecordBody
    is_new: bool = Field(description="false: it was there, and got what it lacked.")
    notices: list[str] = Field(description="A sentence for each source that did not answer.")


class BrokenBody(AnswerBody):
    line: int
    reason: str
    begins: str


class ImportedBody(AnswerBody):
    added: int
    merged: int = Field(description="Entries that were records already.")
    broken: list[BrokenBody]


class AddBody(RequestBody):
    id: str = Field(min_length=1, max_length=MAX_ID_CHARACTERS, description="DOI, arXiv, OpenAlex or S2 id.")
    tags: list[Annotated[str, Field(max_length=MAX_TAG_CHARACTERS)]] = Field(default=[], max_length=MAX_TAGS)
    session_id: SessionName | None = None


class OfferBody(AnswerBody):
    id: str = Field(description="To add it by.")
    title: str


class MatchBody(AnswerBody):
    record: RecordBody | None = Field(description="The paper that is kept.")
    offered: OfferBody | None = Field(description="A paper that sources know, and that is not kept.")


class AttachedBody(MatchBody):
    path: str = Field(description="In the workspace.")


class AttachedListBody(AnswerBody):
    linked: int = Field(description="The number of records that are linked to the conversation.")
    items: list[AttachedBody]


class KeyBody(RequestBody):
    key: str | None = Field(default=None, max_length=1000, description="Left out: the one the caller has saved.")


class KeyTrialBody(AnswerBody):
    outcome: Outcome
    detail: str = Field(description="What the source answered; empty where it took the key.")


class ChangeBody(RequestBody):
    notes: str | None = Field(default=None, max_length=MAX_NOTES_CHARACTERS)
    tags: list[Annotated[str, Field(max_length=MAX_TAG_CHARACTERS)]] | None = Field(default=None, max_length=MAX_TAGS)


async def _wanted(
    q: Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")] = "",
    tag: Annotated[str, Query(max_length=MAX_TAG_CHARACTERS, pattern=r"^[^\x00]*$")] = "",
    session_id: Annotated[str, Query(max_length=100, pattern=r"^[^\x00]*$")] = "",
    source: Annotated[str, Query(max_length=40, pattern=r"^[^\x00]*$")] = "",
    year_from: Annotated[int | None, Query(ge=1000, le=2200)] = None,
    year_to: Annotated[int | None, Query(ge=1000, le=2200)] = None,
    record_ids: Annotated[
        list[RecordName] | None, Query(alias="id", max_length=100, description="Only records with one of these ids.")
    ] = None,
) -> Filter:
    ids = tuple(map(RecordId, record_ids or ()))
    return Filter(text=q, tag=tag, session_id=session_id, source=source, year_from=year_from, year_to=year_to, ids=ids)


Wanted = Annotated[Filter, Depends(_wanted)]


@router.get("", dependencies=[ONE_PLACE], responses={422: {}})
async def list_records(
    caller: CurrentCaller,
    research: Use,
    wanted: Wanted,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> RecordPageBody:
    """List the papers that the caller keeps, newest first."""
    if not research.is_enabled:
        return RecordPageBody(is_enabled=False, items=[], total=0, next_cursor=None)
    page = await research.corpus.page(caller.user.id, wanted, limit=limit, cursor=cursor)
    items = [_record_body(one) for one in page.items]
    return RecordPageBody(is_enabled=True, items=items, total=page.total, next_cursor=page.next_cursor)


@router.get("/tags")
async def list_tags(caller: CurrentCaller, research: Use) -> list[TagBody]:
    """List the tags of the caller's papers, most used first."""
    found = await research.enabled().corpus.tags(caller.user.id)
    return [TagBody(tag=tag, count=count) for tag, count in found]


@router.get("/export", dependencies=[ONE_PLACE], response_class=Response, responses=_EXPORTED)
async def export_records(
    caller: CurrentCaller,
    research: Use,
    wanted: Wanted,
    form: Annotated[Literal["bibtex", "ris"], Query(alias="format")] = "bibtex",
) -> ClosingResponse:
    """Download the papers that match the filters, as one file. One that can't be read to its end is cut off without
    the end of the answer."""
    batches = research.enabled().corpus.each(caller.user.id, wanted)
    # Before the answer begins: a database that is away is an error.
    try:
        first = await anext(batches)
    except StopAsyncIteration:
        first = ()
    media, ending = _MEDIA[form]
    headers = {
        "Content-Disposition": f'attachment; filename="corpus.{ending}"',
        "Content-Type": f"{media}; charset=utf-8",
    }
    return ClosingResponse(_pieces(first, batches, form), headers)


@router.post("/import", status_code=201, responses={413: {}, 422: {}}, openapi_extra=_UPLOAD)
async def import_records(
    request: Request,
    caller: CurrentCaller,
    research: Use,
    form: Annotated[Literal["bibtex", "ris"], Query(alias="format")],
    session_id: Annotated[str | None, Query(max_length=100, pattern=r"^[^\x00]*$")] = None,
) -> ImportedBody:
    """Import a file of BibTeX or RIS. Malformed entries are reported by their line, and the rest is kept."""
    use = research.enabled()
    async with use.places.claim(caller.user.id):
        content = await _file_of(request, MAX_IMPORT_BYTES)
        return ImportedBody.model_validate(await use.take_in(caller.user.id, content, form, session_id))


@router.post("/match", dependencies=[ONE_PLACE], responses={413: {}, 422: {}}, openapi_extra=_UPLOAD)
async def match_file(
    request: Request,
    caller: CurrentCaller,
    research: Use,
    session_id: Annotated[str | None, Query(max_length=100, pattern=r"^[^\x00]*$")] = None,
    path: Annotated[str | None, Query(max_length=1000, pattern=r"^[^\x00]*$")] = None,
) -> MatchBody:
    """Find the record of a PDF by its first page, and link it to a conversation; else return a paper to add. With the
    file's `path` in the workspace it is listed by GET /api/corpus/attached."""
    use = research.enabled()
    async with use.places.claim(caller.user.id):
        content = await _file_of(request, MAX_PDF_BYTES)
        found = await use.match_file(caller.user.id, content, session_id, path)
    return MatchBody(**_of_match(found))


@router.get("/attached", dependencies=[ONE_PLACE])
async def list_attached(
    caller: CurrentCaller,
    research: Use,
    session_id: Annotated[str, Query(min_length=1, max_length=100, pattern=r"^[^\x00]*$")],
) -> AttachedListBody:
    """List the files of a conversation that were recognised as papers, the last first."""
    if not research.is_enabled:
        return AttachedListBody(linked=0, items=[])
    linked = await research.attached.linked(caller.user.id, session_id)
    found = await research.attached.of_session(caller.user.id, session_id)
    return AttachedListBody(linked=linked, items=[AttachedBody(path=path, **_of_match(one)) for path, one in found])


@router.post(
    "/sources/{source}/test", dependencies=[ONE_PLACE], responses={422: {}}, openapi_extra=with_example({"key": "…"})
)
async def try_source_key(source: KeyedSource, body: KeyBody, caller: CurrentCaller, research: Use) -> KeyTrialBody:
    """Test a key with one request to its source, and return the outcome. Nothing is stored."""
    use = research.enabled()
    with use.as_owner(caller.user.id):
        return KeyTrialBody.model_validate(await use.try_key(caller.user.id, source, body.key))


@router.post(
    "",
    status_code=201,
    responses={404: {}, 413: {}, 422: {}, 502: {}},
    openapi_extra=with_example({"id": "10.1038/nature14539", "tags": ["reviews"]}),
)
async def add_record(body: AddBody, caller: CurrentCaller, research: Use) -> AddedBody:
    """Add a paper with the data of the sources."""
    use = research.enabled()
    added = await use.add(caller.user.id, parse_id(body.id), session_id=body.session_id, tags=body.tags)
    return AddedBody(record=_record_body(added.record), is_new=added.is_new, notices=list(added.notices))


@router.get("/{record_id}", responses={404: {}})
async def get_record(record_id: Name, caller: CurrentCaller, research: Use, response: Response) -> RecordBody:
    """Return one record, with its ETag."""
    return _answer(await research.enabled().corpus.get(caller.user.id, RecordId(record_id)), response)


@router.patch(
    "/{record_id}",
    responses={404: {}, 412: {}, 413: {}, 422: {}},
    openapi_extra=with_example({"notes": "The figure on page 4 is what we need.", "tags": ["reviews", "read"]}),
)
async def change_record(
    record_id: Name,
    body: ChangeBody,
    caller: CurrentCaller,
    research: Use,
    response: Response,
    if_match: IfMatch = None,
) -> RecordBody:
    """Change notes or tags. If all records together would be too long, 413. With If-Match only if the record is
    unchanged since it was read, else 412."""
    etag = if_match.strip().removeprefix("W/").strip('"') if if_match else None

    def change(record: Record) -> Record:
        record = record if body.notes is None else record.with_notes(body.notes)
        return record if body.tags is None else record.with_tags(body.tags)

    return _answer(await research.enabled().corpus.change(caller.user.id, RecordId(record_id), change, etag), response)


@router.delete("/{record_id}", status_code=204, responses={404: {}})
async def delete_record(record_id: Name, caller: CurrentCaller, research: Use) -> Response:
    """Delete a record with its notes."""
    await research.enabled().corpus.delete(caller.user.id, RecordId(record_id))
    return Response(status_code=204)


def _of_match(found: Match) -> dict[str, Any]:
    record, offered = found.record, found.offered
    return {
        "record": record and _record_body(record),
        "offered": OfferBody(id=offered.id.value, title=offered.title) if offered and offered.id else None,
    }


async def _file_of(request: Request, most: int) -> bytes:
    async with uploaded_files(request, max_files=1, max_file_bytes=most, field=_FILE) as files:
        file = await anext(files, None)
        if file is None:
            raise InvalidError("Send one file.", field=f"body.{_FILE}")
        return b"".join([piece async for piece in file.chunks])


async def _pieces(
    first: Sequence[Record], batches: AsyncGenerator[Sequence[Record]], form: Form
) -> AsyncGenerator[bytes]:
    used = dict[str, int]()
    async with aclosing(batches):
        yield "".join(written(first, form, used)).encode()
        async for records in batches:
            yield "".join(written(records, form, used)).encode()


def _answer(record: Record, response: Response) -> RecordBody:
    response.headers["ETag"] = f'"{record.etag}"'
    return _record_body(record)


def _record_body(record: Record) -> RecordBody:
    paper = record.paper
    return RecordBody(
        id=record.id,
        paper_id=str(paper.id or ""),
        title=paper.title,
        authors=list(paper.authors),
        abstract=paper.abstract,
        year=paper.year,
        venue=paper.venue,
        kind=paper.kind,
        volume=paper.volume,
        issue=paper.issue,
        pages=paper.pages,
        publisher=paper.publisher,
        source=paper.source,
        url=paper.address,
        doi=paper.doi,
        arxiv_id=paper.arxiv_id,
        pdf=paper.pdf,
        citations=paper.citations,
        is_retracted=paper.is_retracted,
        notes=record.notes,
        tags=list(record.tags),
        sessions=list(record.sessions),
        added_by=record.added_by,
        is_imported=record.is_imported,
        created_at=record.created_at,
        etag=record.etag,
    )
