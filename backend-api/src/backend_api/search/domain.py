"""Tokens of texts, and queries. Languages without spaces between words are cut into pairs of characters, so that a word
of any length is found by its pairs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

MOST_CHARACTERS = 50_000
"""The indexed length of a message, from its beginning; text after it is not found."""
MOST_TOKENS = 4_000
MOST_TOKEN_CHARACTERS = 40
MOST_TERMS = 12
"""The most terms of a query; further ones are ignored."""
SNIPPET_CHARACTERS = 160
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUNS = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}])[^\W_])+")
_IS_CJK = re.compile(rf"[{_CJK}]")
_SPACES = re.compile(r"\s+")

Kind = Literal["title", "user", "agent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query: messages must have all `tokens` and, if there is a `prefix`, a word that begins with it. `words` are the
    terms as typed, for snippets and titles."""

    tokens: tuple[str, ...]
    prefix: str | None
    words: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A found message, or a title, which has neither number nor message."""

    session_id: str
    title: str
    message_id: str | None
    seq: int | None
    at: datetime
    kind: Kind
    snippet: str


def normalized(text: str) -> str:
    """The form in which texts are compared: without regard to case and width."""
    return unicodedata.normalize("NFKC", text).casefold()


def tokens_of(text: str) -> list[str]:
    """The tokens by which a message is found, each once."""
    found: dict[str, None] = {}
    for run in _RUNS.findall(normalized(text[:MOST_CHARACTERS])):
        if _IS_CJK.match(run):
            found.update(dict.fromkeys(run))
            found.update(dict.fromkeys(run[at : at + 2] for at in range(len(run) - 1)))
        else:
            found[run[:MOST_TOKEN_CHARACTERS]] = None
        if len(found) >= MOST_TOKENS:
            break
    return list(found)[:MOST_TOKENS]


def query_of(text: str) -> Query:
    """The query for plain words: no character is an operator. The last word may be the beginning of one, as it is being
    typed."""
    plain = normalized(text)
    words = list(dict.fromkeys(_RUNS.findall(plain)))[:MOST_TERMS]
    ends_in_word = bool(plain) and bool(_RUNS.search(plain[-1]))
    tokens: dict[str, None] = {}
    prefix: str | None = None
    for index, word in enumerate(words):
        if _IS_CJK.match(word):
            pairs = [word[at : at + 2] for at in range(len(word) - 1)]
            tokens.update(dict.fromkeys(pairs or [word]))
        elif index == len(words) - 1 and ends_in_word:
            prefix = word[:MOST_TOKEN_CHARACTERS]
        else:
            tokens[word[:MOST_TOKEN_CHARACTERS]] = None
    return Query(tokens=tuple(tokens)[:MOST_TERMS], prefix=prefix, words=tuple(words))


def score(text: str, query: Query) -> int:
    """The number of query words in a text, and more if they stand together."""
    plain = normalized(text[:MOST_CHARACTERS])
    together = len(query.words) > 1 and " ".join(query.words) in _SPACES.sub(" ", plain)
    return sum(word in plain for word in query.words) + (len(query.words) if together else 0)


def snippet_of(text: str, words: Sequence[str]) -> str:
    """The text around the first of the query's words that it contains, in one line."""
    line = _SPACES.sub(" ", text[:MOST_CHARACTERS]).strip()
    # Positions in the two texts are the same but for rare characters: then the snippet begins a little off.
    plain = line.casefold()
    places = [place for word in words if (place := plain.find(word)) >= 0]
    start = max(min(places, default=0) - SNIPPET_CHARACTERS // 3, 0)
    if start and (space := line.find(" ", start, start + 20)) >= 0:
        start = space + 1
    shown = line[start : start + SNIPPET_CHARACTERS]
    return ("…" if start else "") + shown + ("…" if start + SNIPPET_CHARACTERS < len(line) else "")
