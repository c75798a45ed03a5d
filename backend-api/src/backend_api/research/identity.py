"""Ids of papers, and the rule by which two answers of sources are the same paper.

The rule: the DOI, else the arXiv id without its version, else the normalised title with first author and year. A DOI
that arXiv issued (10.48550/arXiv.…) counts as the arXiv id.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from backend_api.research.errors import PaperIdInvalidError

IdKind = Literal["doi", "arxiv", "openalex", "s2"]
MAX_ID_CHARACTERS = 300
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\"{}\\^`|]{1,200}")
_ARXIV_NEW = re.compile(r"(\d{4}\.\d{4,5})(v\d{1,3})?")
_ARXIV_OLD = re.compile(r"([a-z]{2,10}(?:-[a-z]{2,10})?(?:\.[a-z]{2})?/\d{7})(v\d{1,3})?", re.IGNORECASE)
_OPENALEX = re.compile(r"w\d{4,12}", re.IGNORECASE)
_S2 = re.compile(r"[0-9a-f]{40}", re.IGNORECASE)
_ARXIV_DOI = "10.48550/arxiv."
_ADDRESSES = re.compile(
    r"(?:https?://)?(?:www\.|dx\.|export\.|api\.)?"
    r"(?:doi\.org/|arxiv\.org/(?:abs|pdf|html|e-print)/|openalex\.org/(?:works/)?|semanticscholar\.org/paper/)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:doi|arxiv|openalex|s2|semanticscholar)\s*:\s*", re.IGNORECASE)
NO_ID = (
    "This is not the id of a paper. Give a DOI (10.1038/nature14539), an arXiv id (1706.03762), an OpenAlex id "
    "(W2741809807) or the 40 hexadecimal digits of Semantic Scholar."
)


@dataclass(frozen=True, slots=True)
class PaperId:
    """One id of a paper, in the form in which ids are compared."""

    kind: IdKind
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


def parse_id(text: str) -> PaperId:
    """Parse an id as a person or a model writes it, with or without address or label.

    Raises `PaperIdInvalidError`.
    """
    if len(text) > MAX_ID_CHARACTERS:
        raise PaperIdInvalidError(f"The id of a paper has at most {MAX_ID_CHARACTERS} characters. {NO_ID}")
    bare = _LABEL.sub("", _ADDRESSES.sub("", text.strip(), count=1).strip(), count=1).strip()
    if doi := parse_doi(bare):
        return PaperId("arxiv", arxiv) if (arxiv := arxiv_of_doi(doi)) else PaperId("doi", doi)
    if arxiv := parse_arxiv(bare):
        return PaperId("arxiv", arxiv)
    if _OPENALEX.fullmatch(bare):
        return PaperId("openalex", bare.upper())
    last = bare.rsplit("/", 1)[-1]
    if _S2.fullmatch(last):
        return PaperId("s2", last.lower())
    raise PaperIdInvalidError(NO_ID)


def parse_doi(text: str | None) -> str:
    """The DOI in lower case and without its address; empty if the text is none."""
    bare = _LABEL.sub("", _ADDRESSES.sub("", (text or "").strip(), count=1), count=1).strip()
    bare = unquote(bare) if "%" in bare else bare
    bare = bare.rstrip(".,;")
    return bare.lower() if _DOI.fullmatch(bare) else ""


def parse_arxiv(text: str | None) -> str:
    """The arXiv id without its version; empty if the text is none."""
    bare = _LABEL.sub("", _ADDRESSES.sub("", (text or "").strip(), count=1), count=1).strip().removesuffix(".pdf")
    found = _ARXIV_NEW.fullmatch(bare) or _ARXIV_OLD.fullmatch(bare)
    return found[1].lower() if found else ""


def arxiv_of_doi(doi: str) -> str:
    """The arXiv id that arXiv's own DOI contains; empty for others."""
    return parse_arxiv(doi.removeprefix(_ARXIV_DOI)) if doi.startswith(_ARXIV_DOI) else ""


def title_key(title: str, first_author: str, year: int | None) -> str:
    """The key for comparing titles. Empty if a part of it is unknown: then nothing is the same by its title."""
    normal, family = _normalised(title), _normalised(family_name(first_author))
    return f"{normal}|{family}|{year}" if normal and family and year else ""


def family_name(author: str) -> str:
    """The family name in `Anna van Dijk`, `van Dijk, Anna` or `王小明`: without a comma the last part of the name."""
    if "," in author:
        return author.partition(",")[0].strip().split(" ")[-1]
    return author.strip().split(" ")[-1]


def _normalised(text: str) -> str:
    """Letters and digits only, without accents and case."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in plain if letter.isalnum())
