"""Processes that read untrusted files, each with limits of time and memory of its own."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_json

from backend_api.kit.untrusted.resolver import owner_of_lookups
from backend_api.kit.untrusted.shares import Shares
from backend_api.research.corpus import Entry
from backend_api.research.domain import IMPORTED, MAX_RECORDS, Broken, Paper
from backend_api.research.errors import ImportInvalidError
from backend_api.research.identity import parse_arxiv, parse_doi
from backend_api.research.ports import File, Section, UnreadablePaperError
from service_kit import programs
from service_kit.programs import ProgramStart

MAX_TEXT_CHARACTERS = 1_500_000
MAX_PAGES = 600
AT_ONCE = 2
"""The most processes of each kind at once."""
AT_ONCE_OF_ONE = 1
"""The most of them for one user, so that others get their turn."""
READ_WITHIN_S = 30.0
IMPORT_WITHIN_S = 90.0
MAX_ANSWER_BYTES = 256 * 1024 * 1024
_HERE = Path(__file__).parent
_PDF, _TEX, _IMPORT = (_HERE / f"{name}_program.py" for name in ("pdf", "tex", "import"))
_T = TypeVar("_T")


class _SectionBody(BaseModel):
    title: str
    text: str
    page: int | None = None


class _Read(BaseModel):
    sections: list[_SectionBody] = []
    reason: str = ""


class _EntryBody(BaseModel):
    line: int
    title: str
    authors: list[str]
    abstract: str
    year: int | None
    venue: str
    kind: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    doi: str
    arxiv: str
    url: str
    notes: str
    tags: list[str]


class _BrokenBody(BaseModel):
    line: int
    reason: str
    begins: str


class _ImportRead(BaseModel):
    entries: list[_EntryBody] = []
    broken: list[_BrokenBody] = []
    reason: str = ""


_READ, _IMPORTED = TypeAdapter(_Read), TypeAdapter(_ImportRead)


class ProgramFailedError(Exception):
    """The process exceeded its limits, or its answer can't be read."""


class TextPrograms:
    """`TextOf`."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)
        self._shares = Shares(AT_ONCE_OF_ONE)

    async def sections(self, file: File) -> Sequence[Section]:
        """See the port. Cancelling kills the process that is at work."""
        if file.kind not in ("pdf", "source"):
            raise UnreadablePaperError("The file is neither a PDF nor LaTeX.")
        program = _PDF if file.kind == "pdf" else _TEX
        asked = {"characters": MAX_TEXT_CHARACTERS, "pages": MAX_PAGES}
        try:
            async with self._shares.of(owner_of_lookups()), self._places:
                read = await run_program(program, asked, file.content, _READ, READ_WITHIN_S)
        except ProgramFailedError as error:
            raise UnreadablePaperError("The file could not be parsed.") from error
        if read.reason or not read.sections:
            raise UnreadablePaperError(read.reason or "The file has no text in it.")
        return [Section(title=one.title, text=one.text, page=one.page) for one in read.sections]


async def run_program(
    program: Path, asked: Mapping[str, Any], content: bytes, answer: TypeAdapter[_T], within_s: float
) -> _T:
    """Run a program and return its answer. Raises `ProgramFailedError`."""
    start = ProgramStart(command=(sys.executable, "-I", program), stdin=PIPE)
    text = to_json(asked) + b"\n" + content
    try:
        output = await programs.run_program(start, within_s=within_s, max_bytes=MAX_ANSWER_BYTES, text=text)
        return await asyncio.to_thread(answer.validate_json, output.data)
    except (TimeoutError, programs.TooMuchOutputError, ValidationError) as error:
        raise ProgramFailedError from error


class ImportPrograms:
    """Reads bibliographies."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)
        self._shares = Shares(AT_ONCE_OF_ONE)

    async def read(self, content: bytes, form: Literal["bibtex", "ris"]) -> tuple[list[Entry], list[Broken]]:
        """Entries, and malformed blocks. Raises `ImportInvalidError` if there are neither."""
        asked = {"format": form, "entries": MAX_RECORDS}
        try:
            async with self._shares.of(owner_of_lookups()), self._places:
                read = await run_program(_IMPORT, asked, content, _IMPORTED, IMPORT_WITHIN_S)
        except ProgramFailedError as error:
            raise ImportInvalidError("The file could not be parsed.") from error
        if read.reason:
            raise ImportInvalidError(read.reason)
        broken = [Broken(line=one.line, reason=one.reason, begins=one.begins) for one in read.broken]
        return [_entry_of(one) for one in read.entries], broken


def _entry_of(one: _EntryBody) -> Entry:
    doi = parse_doi(one.doi) or parse_doi(one.url if "doi.org/" in one.url else "")
    paper = Paper(
        title=one.title,
        authors=tuple(one.authors),
        abstract=one.abstract,
        year=one.year,
        venue=one.venue,
        kind=one.kind,
        volume=one.volume,
        issue=one.issue,
        pages=one.pages,
        publisher=one.publisher,
        source=IMPORTED,
        url=one.url,
        doi=doi,
        arxiv_id=parse_arxiv(one.arxiv) or parse_arxiv(one.url if "arxiv.org/" in one.url else ""),
    )
    return Entry(paper=paper, notes=one.notes, tags=one.tags, line=one.line)
