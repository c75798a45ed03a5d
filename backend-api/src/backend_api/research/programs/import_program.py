"""Reads a bibliography in BibTeX or RIS, in a process of its own, as the author of the file decides how long that
takes.

Standard input: a line of JSON (`format`, `entries`: the most there may be), then the file in UTF-8. Standard output:
JSON: `entries`, and `broken` blocks (line, reason, begins). LaTeX in values is converted to text, and none of it is
run. Abbreviations make no more of a file than `MOST_GROWTH` times its length, and entries beyond are broken. It imports
nothing of ours, so that it starts without the environment.
"""

from __future__ import annotations

import json
import logging
import re
import resource
import sys
import unicodedata
from functools import lru_cache
from typing import Any, cast

import rispy
from bibtexparser.entrypoint import parse_string
from bibtexparser.library import Library
from bibtexparser.middlewares import RemoveEnclosingMiddleware, ResolveStringReferencesMiddleware
from bibtexparser.model import DuplicateBlockKeyBlock, Entry, ParsingFailedBlock
from pylatexenc.latex2text import LatexNodes2Text

CPU_S = 60
MEMORY_BYTES = 2 * 1024**3
MOST_BROKEN = 1_000
MOST_GROWTH = 2
FREE_CHARACTERS = 1_000_000
"""What the values of any file may have together."""
MAX_BEGIN_CHARACTERS = 120
MAX_VALUE_CHARACTERS = 40_000
MAX_AUTHORS = 300
_LATEX = re.compile(r"[\\{}$~]|--|``|''")
_RIS_END = re.compile(r"^ER\s{0,2}-.*$", re.MULTILINE)
_RIS_BEGIN = re.compile(r"^TY\s{0,2}-", re.MULTILINE)
_BIBTEX_BEGIN = re.compile(r"^\s*@\s*[a-zA-Z]+\s*[{(]", re.MULTILINE)
_BIBTEX_KINDS = {
    "article": "article-journal",
    "inproceedings": "paper-conference",
    "conference": "paper-conference",
    "incollection": "chapter",
    "inbook": "chapter",
    "book": "book",
    "phdthesis": "thesis",
    "mastersthesis": "thesis",
    "thesis": "thesis",
    "techreport": "report",
    "report": "report",
    "dataset": "dataset",
}
_RIS_KINDS = {
    "JOUR": "article-journal",
    "JFULL": "article-journal",
    "CONF": "paper-conference",
    "CPAPER": "paper-conference",
    "CHAP": "chapter",
    "BOOK": "book",
    "EBOOK": "book",
    "THES": "thesis",
    "RPRT": "report",
    "DATA": "dataset",
}
_YEAR = re.compile(r"(?<!\d)(1[0-9]\d\d|20\d\d)(?!\d)")
_MARKS = {
    "'": "\u0301",
    "`": "\u0300",
    "^": "\u0302",
    '"': "\u0308",
    "~": "\u0303",
    "=": "\u0304",
    ".": "\u0307",
    "u": "\u0306",
    "v": "\u030c",
    "H": "\u030b",
    "c": "\u0327",
    "k": "\u0328",
    "r": "\u030a",
}
_ACCENT = re.compile(r"\\(['`^\"~=.]|[uvHckr](?![a-zA-Z]))\s{0,2}\{?(\\[ij](?![a-zA-Z])|[a-zA-Z])(?![a-zA-Z]{3,}\{)\}?")
_ESCAPE = re.compile(r"\\([&%#_])")
_TO_TEXT: Any = LatexNodes2Text(math_mode="verbatim", strict_latex_spaces=False)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable(logging.CRITICAL)
    asked = json.loads(sys.stdin.buffer.readline())
    text = sys.stdin.buffer.read().decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    sys.stdout.buffer.write(json.dumps(read(text, asked["format"], asked["entries"])).encode("utf-8", "replace"))


def read(text: str, form: str, most: int) -> dict[str, Any]:
    """Read a file; `reason` explains why nothing of it could be read."""
    begins = _BIBTEX_BEGIN if form == "bibtex" else _RIS_BEGIN
    count = sum(1 for _ in begins.finditer(text))
    if not count:
        name = "BibTeX" if form == "bibtex" else "RIS"
        return {"reason": f"The file has no {name} entries."}
    if count > most:
        return {"reason": f"The file has {count:,} entries; at most {most:,} can be imported at once. Split it."}
    return read_bibtex(text) if form == "bibtex" else read_ris(text)


def read_bibtex(text: str) -> dict[str, Any]:
    stack = [ResolveStringReferencesMiddleware(), RemoveEnclosingMiddleware()]
    library: Library = parse_string(text, parse_stack=stack)
    entries, broken = list[dict[str, Any]](), list[dict[str, Any]]()
    left = MOST_GROWTH * len(text) + FREE_CHARACTERS
    for block in library.blocks:
        entry = block.ignore_error_block if isinstance(block, DuplicateBlockKeyBlock) else block
        line = (block.start_line or 0) + 1
        if isinstance(entry, Entry):
            left -= sum(min(len(str(field.value)), MAX_VALUE_CHARACTERS) for field in entry.fields)
            if left < 0:
                broken.append(_broken(line, "The abbreviations of the file are too long.", entry.raw or entry.key))
                continue
            _take(lambda entry=entry: bibtex_entry(entry), line, entry.raw or entry.key, entries, broken)
        elif isinstance(entry, ParsingFailedBlock):
            broken.append(_broken(line, _reason(entry), entry.raw or ""))
    return {"entries": entries, "broken": broken[:MOST_BROKEN]}


def _reason(block: ParsingFailedBlock) -> str:
    said = str(getattr(block.error, "abort_reason", "") or block.error or "")
    return f"It can't be read: {said or 'it is not closed or not an entry'}"


def read_ris(text: str) -> dict[str, Any]:
    entries, broken = list[dict[str, Any]](), list[dict[str, Any]]()
    at, line = 0, 1
    for end in [*(found.end() for found in _RIS_END.finditer(text)), len(text)]:
        block = text[at:end]
        if block.strip():
            blank = len(block) - len(block.lstrip())
            begins = line + block.count("\n", 0, blank)
            _take(lambda block=block: ris_entry(block), begins, block.strip(), entries, broken)
        at, line = end, line + block.count("\n")
    return {"entries": entries, "broken": broken[:MOST_BROKEN]}


def _take(make: Any, line: int, raw: str, entries: list[dict[str, Any]], broken: list[dict[str, Any]]) -> None:
    try:
        entries.append({"line": line, **make()})
    except RecursionError:
        broken.append(_broken(line, "It is nested too deeply.", raw))
    except Exception as error:  # noqa: BLE001 -- whatever the parsers raise of one block, the others are read
        broken.append(_broken(line, str(error) or type(error).__name__, raw))


def _broken(line: int, reason: str, raw: str) -> dict[str, Any]:
    begins = " ".join(raw[: MAX_BEGIN_CHARACTERS * 2].split())[:MAX_BEGIN_CHARACTERS]
    return {"line": line, "reason": " ".join(reason.split())[:300], "begins": begins}


def bibtex_entry(entry: Entry) -> dict[str, Any]:
    """The entry. Raises `ValueError` for one without a title."""
    fields = {field.key.lower(): str(field.value)[:MAX_VALUE_CHARACTERS] for field in entry.fields}

    def text(*names: str) -> str:
        return next((plain(fields[name]) for name in names if fields.get(name)), "")

    title = text("title")
    if not title:
        raise ValueError("It has no title. Add one.")
    preprint = fields.get("archiveprefix", fields.get("eprinttype", "")).lower()
    year = _YEAR.search(text("year", "date"))
    return {
        "title": title,
        "authors": names_of(fields.get("author") or fields.get("editor") or ""),
        "abstract": text("abstract"),
        "year": int(year[1]) if year else None,
        "venue": text("journal", "journaltitle", "booktitle"),
        "kind": _BIBTEX_KINDS.get(entry.entry_type.lower(), ""),
        "volume": text("volume"),
        "issue": text("number", "issue"),
        "pages": text("pages"),
        "publisher": text("publisher", "school", "institution", "organization"),
        "doi": fields.get("doi", "").strip(),
        "arxiv": fields.get("eprint", "").strip() if preprint in ("arxiv", "") else "",
        "url": fields.get("url", "").replace("\\", "").strip(),
        "notes": text("annote", "annotation"),
        "tags": [one.strip() for one in re.split(r"[;,]", text("keywords")) if one.strip()],
    }


def names_of(authors: str) -> list[str]:
    """Names of `Family, Given and {A Group}` in their spoken form, in their order."""
    parts, at, depth = list[str](), 0, 0
    for found in re.finditer(r"[{}]|(?<=\s)and(?=\s)", authors, re.IGNORECASE):
        if found[0] in "{}":
            depth += 1 if found[0] == "{" else -1
        elif depth <= 0:
            parts.append(authors[at : found.start()])
            at = found.end()
    parts.append(authors[at:])
    return [name for name in map(_name, parts[:MAX_AUTHORS]) if name]


def _name(part: str) -> str:
    bare = part.strip()
    if bare.startswith("{") and bare.endswith("}"):
        return plain(bare)
    pieces = [plain(one) for one in bare.split(",")]
    if len(pieces) == 2:
        return f"{pieces[1]} {pieces[0]}".strip()
    return f"{pieces[2]} {pieces[0]} {pieces[1]}".strip() if len(pieces) == 3 else plain(bare)


@lru_cache(maxsize=4_096)
def plain(value: str) -> str:
    """LaTeX as text, on one line. Commands that would read or write files have no effect."""
    if not _LATEX.search(value):
        return " ".join(value.split())
    bare = _without_accents(value)
    if "\\" in bare or "$" in bare:
        bare = str(_TO_TEXT.latex_to_text(value))
    return " ".join(bare.split())


def _without_accents(value: str) -> str:
    """The text with letters in place of accent commands, which most of LaTeX in names is; the full parser takes some
    hundred times as long."""
    text = _ACCENT.sub(_accented, value)
    text = _ESCAPE.sub(r"\1", text)
    return text.replace("---", "—").replace("--", "–").replace("{", "").replace("}", "").replace("~", " ")


def _accented(found: re.Match[str]) -> str:
    letter = {"\\i": "i", "\\j": "j"}.get(found[2], found[2])
    return unicodedata.normalize("NFC", letter + _MARKS[found[1]])


def ris_entry(block: str) -> dict[str, Any]:
    """The entry. Raises `ValueError` for one without a title, and what the parser raises."""
    found: list[dict[str, Any]] = cast("Any", rispy).loads(block.strip() + "\n")
    if len(found) != 1:
        raise ValueError("It must begin with TY and end with ER.")
    (one,) = found

    def text(*names: str) -> str:
        values = (one.get(name) for name in names)
        first = next((value for value in values if value), "")
        return " ".join((_listed(first) or [""])[0][:MAX_VALUE_CHARACTERS].split())

    title = text("title", "primary_title", "translated_title")
    if not title:
        raise ValueError("It has no title. Add one.")
    year = _YEAR.search(text("year", "publication_year", "date"))
    authors = _listed(one.get("authors") or one.get("first_authors"))
    return {
        "title": title,
        "authors": [name for name in map(_name, authors[:MAX_AUTHORS]) if name],
        "abstract": text("abstract", "notes_abstract"),
        "year": int(year[1]) if year else None,
        "venue": text("journal_name", "secondary_title", "alternate_title3", "alternate_title2"),
        "kind": _RIS_KINDS.get(str(one.get("type_of_reference", "")).upper(), ""),
        "volume": text("volume"),
        "issue": text("number"),
        "pages": "-".join(filter(None, (text("start_page"), text("end_page")))),
        "publisher": text("publisher"),
        "doi": text("doi"),
        "arxiv": "",
        "url": text("urls", "url"),
        "notes": " ".join(_listed(one.get("notes"))),
        "tags": [tag.strip() for tag in _listed(one.get("keywords")) if tag.strip()],
    }


def _listed(value: Any) -> list[str]:
    """The values of a tag, as some tags may be repeated, others not."""
    if isinstance(value, list):
        return [str(one) for one in cast("list[Any]", value)]
    return [str(value)] if value else []


if __name__ == "__main__":
    main()
