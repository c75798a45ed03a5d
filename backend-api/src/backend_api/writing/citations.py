"""Citations in a text: `[@key]` in pandoc's syntax, and the cited papers as items of CSL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from backend_api.research.domain import Paper
from backend_api.writing.domain import Project, Section

Severity = Literal["error", "warning"]
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TICKS = re.compile(r"`+")
_CITED = re.compile(r"(?<![\w@\\./])@(?:\{([^{}\s]{1,200})\}|(\w(?:[:.#$%&+?<>~/-]?\w){0,200}))")
_FIGURE = re.compile(r"!\[(?:[^\[\]]|\[[^\[\]]{0,200}\]){0,500}\]\(\s{0,5}<?([^()\s<>]{1,500})>?(?:\s[^()]{0,300})?\)")
_PARTICLES = frozenset(
    {"van", "von", "der", "den", "de", "del", "della", "di", "da", "dos", "du", "la", "le", "ter", "ten", "zu"}
)
_GROUP = re.compile(
    r"collaboration|consortium|committee|group|team|institute|university|organi[sz]ation|society|association|foundation"
    r"|agency|ministry|initiative|project|network",
    re.IGNORECASE,
)
_STAND_ALONE = frozenset({"book", "thesis", "report", "dataset"})
_SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"})


@dataclass(frozen=True, slots=True)
class Cited:
    """A cited key, and its position in a section's text, in characters."""

    key: str
    section_id: str
    at: int


@dataclass(frozen=True, slots=True)
class Figure:
    """A path of the workspace, and its position in a section's text, in characters."""

    path: str
    section_id: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem of a citation: an `error` prevents an export, unless it is marked there."""

    code: str
    severity: Severity
    detail: str
    key: str = ""
    record_id: str = ""
    section_id: str = ""
    at: int = 0


def cited_in(section: Section) -> Iterator[Cited]:
    """Each place, in order, without those in code."""
    for found in _CITED.finditer(_without_code(section.text)):
        yield Cited(found[1] or found[2], section.id, found.start())


def all_cited(project: Project) -> list[Cited]:
    return [one for section in project.sections for one in cited_in(section)]


def figures_in(project: Project) -> list[Figure]:
    """Each place, in order, without those in code."""
    return [
        Figure(found[1], section.id, found.start())
        for section in project.sections
        for found in _FIGURE.finditer(_without_code(section.text))
        if "://" not in found[1] and not found[1].startswith(("data:", "#"))
    ]


def _without_code(text: str) -> str:
    """The text with code replaced by spaces, so that all positions stay the same."""
    lines, blank = text.splitlines(keepends=True), list[str]()
    fence, opened = "", 0
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        is_end = bool(fence and found and found[1].startswith(fence))
        if not fence and found:
            fence, opened = found[1], number
        blank.append(" " * len(line) if fence else line)
        if is_end:
            fence = ""
    if fence:  # one that is not closed is no code
        blank[opened:] = lines[opened:]
    return _without_inline_code("".join(blank))


def _without_inline_code(text: str) -> str:
    runs = [(found.start(), found.end()) for found in _TICKS.finditer(text)]
    later = dict[int, list[tuple[int, int]]]()
    for run in reversed(runs):
        later.setdefault(run[1] - run[0], []).append(run)
    pieces, at = list[str](), 0
    for begin, end in runs:
        same = later[end - begin]
        same.pop()
        if begin < at or not same:
            continue
        pieces += [text[at:begin], " " * (same[-1][1] - begin)]
        at = same[-1][1]
    return "".join([*pieces, text[at:]])


def section_markdown(section: Section) -> str:
    """The section with its heading, whose title contains no markup."""
    return f"{'#' * section.level} {escaped(section.title)} {{#sec-{section.id}}}\n\n{section.text}\n"


def escaped(text: str) -> str:
    """The text escaped, so that Markdown shows it literally."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def csl_item(key: str, paper: Paper) -> dict[str, object]:
    """A paper as an item of CSL-JSON."""
    is_preprint = not paper.kind and (not paper.venue or paper.venue.casefold() == "arxiv")
    kind = "article" if is_preprint else paper.kind or "article-journal"
    publisher = "" if kind == "article-journal" else paper.publisher
    item: dict[str, object] = {
        "id": key,
        "type": kind,
        "title": paper.title,
        "author": [csl_name(name) for name in paper.authors],
        "container-title": "" if is_preprint or kind in _STAND_ALONE else paper.venue,
        "volume": paper.volume,
        "issue": paper.issue,
        "page": paper.pages.replace("–", "-"),
        "publisher": "arXiv" if is_preprint and paper.arxiv_id else publisher,
        "number": f"arXiv:{paper.arxiv_id}" if is_preprint and paper.arxiv_id else "",
        "DOI": paper.doi,
        "URL": "" if paper.doi else paper.address,
    }
    if paper.year:
        item["issued"] = {"date-parts": [[paper.year]]}
    return {name: value for name, value in item.items() if value}


def csl_name(name: str) -> dict[str, str]:
    """Family name and the rest, as far as the notation shows; a group, or a name without spaces, stays whole."""
    if "," in name:
        family, _, given = name.partition(",")
        return {"family": family.strip(), "given": given.strip()} if given.strip() else {"literal": family.strip()}
    words = name.split()
    if len(words) < 2 or _GROUP.search(name):
        return {"literal": name}
    suffix = words.pop() if len(words) > 2 and words[-1].casefold() in _SUFFIXES else ""
    first = len(words) - 1
    while first > 1 and words[first - 1] in _PARTICLES:
        first -= 1
    parts = {
        "family": words[-1],
        "given": " ".join(words[:first]),
        "non-dropping-particle": " ".join(words[first:-1]),
        "suffix": suffix,
    }
    return {part: value for part, value in parts.items() if value}


def worst(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that prevent an export."""
    return [one for one in findings if one.severity == "error"]
