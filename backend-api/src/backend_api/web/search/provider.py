"""The interface of search providers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from backend_api.kit.errors import UnavailableError

MAX_TEXT_CHARACTERS = 500
MAX_URL_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    title: str
    url: str
    snippet: str = ""


def hit_of(title: str, url: str, snippet: str) -> Hit | None:
    """A hit of a provider's fields, each on one line and of bounded length. None if it is not a web page."""
    if not url.startswith(("http://", "https://")) or len(url) > MAX_URL_CHARACTERS or len(url.split()) != 1:
        return None
    return Hit(title=_line(title), url=url, snippet=_line(snippet))


def _line(text: str) -> str:
    return " ".join(text.split())[:MAX_TEXT_CHARACTERS]


class SearchUnavailableError(UnavailableError):
    """The provider refused, did not answer, or sent an invalid answer."""

    code = "search_unavailable"


class SearchKeyError(SearchUnavailableError):
    """The provider refuses the key."""


class SearchLimitError(SearchUnavailableError):
    """The key is valid, but its limit is reached or it has no paid plan."""


class SearchProvider(Protocol):
    """Searches the web."""

    @property
    def name(self) -> str: ...

    async def search(self, query: str, *, limit: int) -> list[Hit]:
        """The hits, best first. Raises `SearchUnavailableError`."""
        ...
