"""Records as BibTeX and as RIS. A title is plain text: nothing in it is a command of LaTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal

from backend_api.research.domain import Paper, Record
from backend_api.research.identity import family_name

Form = Literal["bibtex", "ris"]
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_ENTRIES = {
    "article-journal": ("article", "JOUR"),
    "paper-conference": ("inproceedings", "CONF"),
    "chapter": ("incollection", "CHAP"),
    "book": ("book", "BOOK"),
    "thesis": ("phdthesis", "THES"),
    "report": ("techreport", "RPRT"),
    "dataset": ("misc", "DATA"),
}
"""The entry type of BibTeX and the type of RIS for each kind."""
_ESCAPED = str.maketrans(_SPECIAL)
_FORMULA = re.compile(r"\$[A-Za-z0-9^_{}+\-=()., ]{1,80}\$")
"""A simple formula in a title: letters, digits, indices and powers only, kept as a formula. Commands are excluded."""
_SMALL_WORDS = frozenset({"a", "an", "the", "on", "of", "for", "in", "to", "and", "with", "is", "are", "do", "does"})


def written(records: Iterable[Record], form: Form, used: dict[str, int] | None = None) -> Iterator[str]:
    """One entry for each record. `used` has the keys of the entries before these, and gets theirs."""
    return _bibtex(records, {} if used is None else used) if form == "bibtex" else _ris(records)


def citation_key(paper: Paper) -> str:
    """Family name, year and first word of the title, in ASCII."""
    family = _ascii(family_name(paper.authors[0])) if paper.authors else ""
    words = [_ascii(word) for word in paper.title.split()]
    word = next((one for one in words if one and one not in _SMALL_WORDS), "")
    return f"{family or 'anon'}{paper.year or ''}{word}"[:60]


def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return "".join(letter for letter in plain if letter.isalnum())


def _bibtex(records: Iterable[Record], used: dict[str, int]) -> Iterator[str]:
    for record in records:
        paper, key = record.paper, citation_key(record.paper)
        used[key] = used.get(key, 0) + 1
        number = f"-{used[key]}" if used[key] > 1 else ""
        fields = {
            "title": f"{{{_latex(paper.title)}}}",
            "author": " and ".join(map(_bibtex_name, paper.authors)),
            "year": str(paper.year or ""),
            _venue_field(paper): _latex(paper.venue),
            "volume": _latex(paper.volume),
            "number": _latex(paper.issue),
            "pages": _latex(paper.pages.replace("–", "--")),
            _publisher_field(paper): _latex(paper.publisher),
            "doi": _bare(paper.doi),
            "eprint": _bare(paper.arxiv_id),
            "archiveprefix": "arXiv" if paper.arxiv_id else "",
            "url": _bare(paper.address),
            "abstract": _latex(paper.abstract),
            "keywords": _latex(", ".join(record.tags)),
            "annote": _latex(" ".join(record.notes.split())),
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        yield "\n".join([f"@{_kind(paper)}{{{key}{number},", *lines, "}", "", ""])


def _kind(paper: Paper) -> str:
    """The entry type of a paper."""
    if paper.kind in _ENTRIES:
        return _ENTRIES[paper.kind][0]
    return "article" if paper.venue and paper.venue != "arXiv" else "misc"


def _venue_field(paper: Paper) -> str:
    fields = {"article": "journal", "inproceedings": "booktitle", "incollection": "booktitle"}
    return fields.get(_kind(paper), "howpublished")


def _publisher_field(paper: Paper) -> str:
    return {"phdthesis": "school", "techreport": "institution"}.get(_kind(paper), "publisher")


def _latex(text: str) -> str:
    """The text with every special character of LaTeX escaped, but for simple formulas."""
    made, at = list[str](), 0
    for found in _FORMULA.finditer(text):
        if found[0].count("{") == found[0].count("}"):
            made += [text[at : found.start()].translate(_ESCAPED), found[0]]
            at = found.end()
    return "".join([*made, text[at:].translate(_ESCAPED)])


def _bare(text: str) -> str:
    """An address or id, which is not escaped: characters that would end the value are removed."""
    return "".join(sign for sign in text if sign not in "{}\\\n\r%").strip() if text else ""


def _bibtex_name(name: str) -> str:
    if "," in name or " " not in name or not name.isprintable():
        return f"{{{_latex(name)}}}"
    given, _, family = name.rpartition(" ")
    return f"{_latex(family)}, {_latex(given)}"


def _ris(records: Iterable[Record]) -> Iterator[str]:
    for record in records:
        paper = record.paper
        lines = [
            ("TY", _ENTRIES.get(paper.kind, ("", "JOUR" if _kind(paper) == "article" else "GEN"))[1]),
            ("TI", paper.title),
            *(("AU", _ris_name(name)) for name in paper.authors),
            ("PY", str(paper.year or "")),
            ("JO" if _kind(paper) in ("article", "misc") else "T2", paper.venue),
            ("VL", paper.volume),
            ("IS", paper.issue),
            ("SP", paper.pages.partition("–")[0]),
            ("EP", paper.pages.partition("–")[2]),
            ("PB", paper.publisher),
            ("DO", paper.doi),
            ("AB", paper.abstract),
            *(("KW", tag) for tag in record.tags),
            ("N1", record.notes),
            ("UR", paper.address),
        ]
        text = [f"{tag}  - {' '.join(value.split())}" for tag, value in lines if value]
        yield "\n".join([*text, "ER  - ", "", ""])


def _ris_name(name: str) -> str:
    given, _, family = name.rpartition(" ")
    return name if "," in name or not given else f"{family}, {given}"
